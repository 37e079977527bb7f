package import Crypto
package import Delivery
package import JSON

/// A command of an operator to the workers of a fleet.
package struct FleetCommand: Sendable, Hashable {
    package enum Action: Sendable, Hashable {
        /// A report now, then each second for this time, 0 to ``FleetLimits/reportSecondsMax`` seconds.
        case report(seconds: Int)
        /// A reply with the full status.
        case describe
        /// A probe of the open breakers of a scope.
        case probe(ProbeScope)
        /// A pause of one worker, which ends with a resume or with the process.
        case pause(PauseScope)
        case resume(PauseScope)
        /// An action of a later version, by its name.
        case unsupported(String)

        package var name: String { FleetActionMembers(self).name }
    }

    package var id: UUIDValue
    /// The operator.
    package var by: String
    /// The reason. Required for a pause.
    package var why: String?
    /// The names of the workers that must run the command; nil for all workers.
    package var workers: [String]?
    package var action: Action

    package init(id: UUIDValue, by: String, why: String? = nil, workers: [String]? = nil, action: Action) {
        self.id = id
        self.by = by
        self.why = why
        self.workers = workers
        self.action = action
    }

    /// Returns whether a command may carry the reason.
    package static func isValid(why: String) -> Bool { why.isPrintable(bytesMax: FleetLimits.whyBytesMax) }

    /// Returns whether a command may carry the scope.
    package static func isValid(scope: ProbeScope) -> Bool {
        scope.description.isPrintable(bytesMax: FleetLimits.scopeBytesMax) && ProbeScope(scope.description) == scope
    }

    package func addresses(_ worker: String) -> Bool { workers?.contains(worker) ?? true }
}

extension FleetCommand {
    /// The property `type` of the message, and its member of the same name.
    package static let type = "push.command.v1"

    private static let format = FleetFormat(
        type: type, name: "a command", bytesMax: FleetLimits.commandBytesMax,
        codec: ObjectCodec(
            "a command", from: Self(id: UUIDValue(high: 0, low: 0), by: "-", action: .describe), ignoresUnknown: true,
            [
                .required("id", \.id, .uuid),
                .required("by", \.by, .printable(bytesMax: FleetLimits.byBytesMax)),
                .optional("why", \.why, .printable(bytesMax: FleetLimits.whyBytesMax)),
                .optional(
                    "workers", \.workers, .list(of: .printable(bytesMax: FleetLimits.workerBytesMax), "a worker")),
                .group(
                    FleetActionMembers.codec, isRequired: true, get: { FleetActionMembers($0.action) },
                    set: { action, members, command throws(InputError) in
                        command.action = try action.action(members)
                    }),
            ], check: check))

    /// Checks the number of workers, and the members that an action requires. An unsupported action requires none.
    private static let check: ObjectCodec<Self>.Check = { command, members throws(InputError) in
        if let workers = command.workers, !(1...FleetLimits.workersMax).contains(workers.count) {
            throw members.error("workers", "must have 1 to \(FleetLimits.workersMax) elements")
        }
        switch command.action {
        case .pause, .resume:
            guard command.workers?.count == 1 else { throw members.error("workers", "must name one worker") }
        case .report, .describe, .probe, .unsupported: break
        }
        if case .pause = command.action, command.why == nil { throw members.error("why", "is required for a pause") }
    }

    /// Reads a command.
    ///
    /// - Throws: an error that states why the command is invalid.
    package init(json bytes: [UInt8]) throws(InputError) { self = try Self.format.read(bytes) }

    package var json: [UInt8] { Self.format.write(self) }
}
