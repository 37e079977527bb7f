package import Crypto
package import Delivery
package import JSON

/// A record of the stream of pauses. Each record contains all pauses, so the newest record is sufficient.
package struct PauseRecord: Sendable, Hashable {
    package var revision: PauseRevision
    /// The change that led to this record, such as `pause topic com.example.shop`.
    package var change: String
    /// The pauses in the order of their creation, at most one for each scope.
    package var pauses: [FleetPause]

    init(revision: PauseRevision, change: String, pauses: [FleetPause]) {
        self.revision = revision
        self.change = change
        self.pauses = pauses
    }

    /// Creates the first record of a series. It has revision 0 and no pauses. The writer must hold the lock of the
    /// pauses and must have found the stream empty. Otherwise, the record would end all pauses.
    package init(first series: UUIDValue) {
        self.init(revision: PauseRevision(series: series, number: 0), change: "create", pauses: [])
    }

    /// Returns the pauses that have not ended.
    ///
    /// - Parameter now: UNIX milliseconds of the reader's clock.
    package func inForce(at now: Int64) -> [FleetPause] { pauses.filter { $0.isInForce(at: now) } }
}

extension PauseRecord {
    /// The property `type` of the message, and its member of the same name.
    package static let type = "push.pauses.v1"

    private static let format = FleetFormat(
        type: type, name: "a record of pauses", bytesMax: FleetLimits.recordBytesMax,
        codec: ObjectCodec(
            "a record of pauses", from: Self(first: UUIDValue(high: 0, low: 0)), ignoresUnknown: true,
            [
                .group(
                    PauseRevision.codec, isRequired: true, get: { $0.revision },
                    set: { revision, _, record throws(InputError) in record.revision = revision }),
                .required("change", \.change, .printable(bytesMax: FleetLimits.changeBytesMax)),
                .required("pauses", \.pauses, .list(of: FleetPause.codec.value, "a pause")),
            ],
            check: { record, members throws(InputError) in
                guard record.pauses.count <= FleetLimits.pausesMax else {
                    throw members.error("pauses", "must have at most \(FleetLimits.pausesMax) elements")
                }
                guard Set(record.pauses.map(\.scope)).count == record.pauses.count else {
                    throw members.error("pauses", "must contain each scope once")
                }
            }))

    /// Reads a record.
    ///
    /// - Throws: an error that states why the record is invalid.
    package init(json bytes: [UInt8]) throws(InputError) { self = try Self.format.read(bytes) }

    package var json: [UInt8] { Self.format.write(self) }
}

extension PauseRecord {
    /// A change of the pauses of a fleet.
    package enum Change: Sendable, Hashable, CustomStringConvertible {
        case pause(FleetPause)
        case resume(PauseScope)

        package var description: String {
            switch self {
            case .pause(let pause): "pause \(pause.scope)"
            case .resume(let scope): "resume \(scope)"
            }
        }
    }

    /// Returns the next record, without ended pauses. A new pause of a paused scope replaces the earlier pause. A
    /// repeated pause, or a resume without a pause, is a violation, so that a repeated command writes no record.
    ///
    /// - Parameter now: UNIX milliseconds of the writer's clock.
    package func applying(_ change: Change, at now: Int64) throws(PauseViolation) -> PauseRecord {
        var pauses = inForce(at: now)
        switch change {
        case .pause(let pause): try Self.add(pause, to: &pauses, now)
        case .resume(let scope):
            guard pauses.contains(where: { $0.scope == scope }) else {
                throw PauseViolation(.notPaused, "the fleet has no pause of \(scope)")
            }
            pauses.removeAll { $0.scope == scope }
        }
        guard revision.number < FleetLimits.numberMax else {
            throw PauseViolation(.lastRevision, "the record has the maximum revision; declare the stream again")
        }
        let next = PauseRecord(
            revision: PauseRevision(series: revision.series, number: revision.number + 1),
            change: change.description, pauses: pauses)
        guard next.json.count <= FleetLimits.recordBytesMax else {
            throw PauseViolation(.tooLarge, "the pauses have more than \(FleetLimits.recordBytesMax) bytes of JSON")
        }
        return next
    }

    private static func add(_ pause: FleetPause, to pauses: inout [FleetPause], _ now: Int64) throws(PauseViolation) {
        if let violation = pause.violation { throw violation }
        guard pause.isInForce(at: now) else { throw PauseViolation(.until, "until must be in the future") }
        if pauses.contains(where: { pause.isRepeat(of: $0) }) {
            throw PauseViolation(.alreadyPaused, "the fleet has the same pause of \(pause.scope)")
        }
        pauses.removeAll { $0.scope == pause.scope }
        guard pauses.count < FleetLimits.pausesMax else {
            throw PauseViolation(
                .tooManyPauses, "the fleet has \(FleetLimits.pausesMax) pauses, the maximum; resume a scope first")
        }
        pauses.append(pause)
    }
}
