package import Crypto
package import JSON
import Text

/// A record of an operator's action in a console or command, or of a login or refusal in a console.
package struct AuditRecord: Sendable, Hashable {
    package enum Phase: String, Sendable, CaseIterable {
        /// The action begins.
        case before
        /// The action has ended, or the record describes an event without a beginning.
        case after
    }

    /// The outcome of an action that has ended.
    package enum Outcome: String, Sendable, CaseIterable {
        case done
        /// An operator or a limit has ended the action early.
        case stopped
        /// At least a part of the action has failed, or the end of the console has ended the action.
        case failed
    }

    /// The identity of the action, which the records of both phases share.
    package var id: UUIDValue
    /// UNIX milliseconds of the clock of the console or command.
    package var at: Int64
    /// The operator.
    package var by: String
    /// The name of the action, such as `pause`, `login` or `refusal`.
    package var verb: String
    package var phase: Phase
    /// nil before the end, for an unknown result, and for an event that is no action.
    package var outcome: Outcome?
    package var why: String?
    /// The command that does the same.
    package var command: String?
    package var result: String?
    /// The number of objects that the action concerns, such as workers or breakers.
    package var count: Int?
    /// The name of the process of the console or command.
    package var console: String

    /// Creates a record. Texts are made printable and cut to their limits.
    package init(
        id: UUIDValue, at: Int64, by: String, verb: String, phase: Phase, outcome: Outcome? = nil, why: String? = nil,
        command: String? = nil, result: String? = nil, count: Int? = nil, console: String
    ) {
        func cut(_ text: String, _ bytesMax: Int) -> String {
            let text = text.printable.cut(to: bytesMax)
            return text.isPrintable(bytesMax: bytesMax) ? text : "-"
        }
        self.id = id
        self.at = at
        self.by = cut(by, FleetLimits.byBytesMax)
        self.verb = cut(verb, FleetLimits.verbBytesMax)
        self.phase = phase
        self.outcome = outcome
        self.why = why.map { cut($0, FleetLimits.whyBytesMax) }
        self.command = command.map { cut($0, FleetLimits.commandLineBytesMax) }
        self.result = result.map { cut($0, FleetLimits.sentenceBytesMax) }
        self.count = count
        self.console = cut(console, FleetLimits.workerBytesMax)
    }

    /// The routing key of the record.
    package var routingKey: String { Self.keyPrefix + verb }

    /// The beginning of the routing keys of all records.
    package static let keyPrefix = "audit."
}

extension AuditRecord {
    /// The property `type` of the message, and its member of the same name.
    package static let type = "push.audit.v1"

    private static let format = FleetFormat(
        type: type, name: "a record of the audit", bytesMax: FleetLimits.auditBytesMax,
        codec: ObjectCodec(
            "a record of the audit",
            from: Self(
                id: UUIDValue(high: 0, low: 0), at: FleetLimits.times.lowerBound, by: "-", verb: "-", phase: .before,
                console: "-"),
            ignoresUnknown: true,
            [
                .required("id", \.id, .uuid),
                .required("at", \.at, .int(FleetLimits.times)),
                .required("by", \.by, .printable(bytesMax: FleetLimits.byBytesMax)),
                .required("verb", \.verb, .printable(bytesMax: FleetLimits.verbBytesMax)),
                .required("phase", \.phase, .word),
                .optional("outcome", \.outcome, .word),
                .optional("why", \.why, .printable(bytesMax: FleetLimits.whyBytesMax)),
                .optional("command", \.command, .printable(bytesMax: FleetLimits.commandLineBytesMax)),
                .optional("result", \.result, .printable(bytesMax: FleetLimits.sentenceBytesMax)),
                .optional("count", \.count, .int(0...FleetLimits.numberMax)),
                .required("console", \.console, .printable(bytesMax: FleetLimits.workerBytesMax)),
            ]))

    /// Reads a record.
    ///
    /// - Throws: an error that states why the record is invalid.
    package init(json bytes: [UInt8]) throws(InputError) { self = try Self.format.read(bytes) }

    package var json: [UInt8] { Self.format.write(self) }
}
