package import AMQP
import BrokerTopology
package import ControlProtocol
import Crypto
import EventLoop

/// A writer of the fleet's pauses. It reads the newest record and publishes the next one under a lock at the broker.
/// With the lock, concurrent writers lose no change.
///
/// Loop-bound.
package final class PauseWriter {
    package enum Failure: Error {
        case broker(AMQPError)
        /// The change is invalid or has no effect.
        case violation(PauseViolation)
        /// Another program holds the lock.
        case locked
        /// The newest record has another revision than the caller expects.
        case moved
        /// The stream contains no record.
        case noRecord
        /// Other records arrived during each attempt, although this writer held the lock.
        case conflict
        /// The broker has the record, but did not deliver it in time.
        case notDelivered

        /// The failure and its remedy, without a final period.
        package var sentence: String {
            switch self {
            case .broker(let error): error.message
            case .violation(let violation): violation.sentence
            case .locked: "another command changes the pauses; run this command again"
            case .moved: "the pauses have changed meanwhile"
            case .noRecord: "the stream of pauses contains no record; run: martlet topology apply"
            case .notDelivered:
                "the broker did not deliver the new record; to see its effect, run: martlet status --fleet"
            case .conflict: "other programs change the pauses without holding the lock"
            }
        }
    }

    /// Maximum wait for the lock. The broker frees the lock of a vanished holder after two to three heartbeat
    /// intervals of the session.
    private static let lockSecondsMax: Int64 = 20
    private static let lockRetryMilliseconds: Int64 = 20
    /// Maximum wait for a record. The broker delivers the newest record within milliseconds.
    private static let recordMillisecondsMax = 3000
    /// Maximum time to read a stream whose last messages are no records.
    private static let searchMillisecondsMax = 20_000
    private static let attemptsMax = 3

    private let session: FleetSession

    /// - Parameter session: an open session.
    package init(_ session: FleetSession) { self.session = session }

    /// Publishes a record with the change. Returns the record once the broker has confirmed and delivered it.
    ///
    /// - Parameter expected: the revision of the record that the change must follow; nil for any record.
    package func write(
        _ change: PauseRecord.Change, after expected: PauseRevision? = nil
    ) async throws(Failure) -> PauseRecord {
        try await withLock { (records) async throws(Failure) in
            guard var newest = try await Self.newest(records) else { throw Failure.noRecord }
            if let expected {
                newest = try await Self.newest(records, from: expected) ?? newest
                guard newest.revision == expected else { throw Failure.moved }
            }
            return try await self.write(change, after: newest, records)
        }
    }

    /// Publishes the first record of a series if the stream is empty. Returns whether it published the record.
    package func writeFirst() async throws(Failure) -> Bool {
        await session.findReplica()
        return try await withLock { (records) async throws(Failure) in
            guard try await Self.newest(records) == nil else { return false }
            try await self.publish(PauseRecord(first: UUIDValue(randomOf: self.session.loop)))
            return true
        }
    }

    private static func newest(_ records: PauseRecords) async throws(Failure) -> PauseRecord? {
        try await asking { () async throws(AMQPError) in
            try await records.newest(
                milliseconds: recordMillisecondsMax, searchMilliseconds: searchMillisecondsMax)
        }
    }

    private static func newest(
        _ records: PauseRecords, from revision: PauseRevision
    ) async throws(Failure) -> PauseRecord? {
        try await asking { () async throws(AMQPError) in
            try await records.newest(from: revision, milliseconds: recordMillisecondsMax)
        }
    }

    /// - Parameter base: the newest record.
    private func write(
        _ change: PauseRecord.Change, after base: PauseRecord, _ records: PauseRecords
    ) async throws(Failure) -> PauseRecord {
        var base = base
        for _ in 0..<Self.attemptsMax {
            let next: PauseRecord
            do throws(PauseViolation) {
                next = try base.applying(change, at: session.loop.now.unixMilliseconds)
            } catch {
                throw .violation(error)
            }
            try await publish(next)
            // A writer whose connection was lost may still have published. Its record is then before this one.
            let former = try await Self.asking { () async throws(AMQPError) in
                try await records.record(before: next, milliseconds: Self.recordMillisecondsMax)
            }
            guard let former else { throw .notDelivered }
            if former.revision == base.revision { return next }
            base = former
            base.revision.number = max(former.revision.number, next.revision.number)
        }
        throw .conflict
    }

    private func publish(_ record: PauseRecord) async throws(Failure) {
        try await Self.asking { () async throws(AMQPError) in
            try await session.publish(record.json, type: PauseRecord.type, key: "pauses")
        }
    }

    /// Converts an error of the broker into a failure.
    private static func asking<Value>(_ work: () async throws(AMQPError) -> Value) async throws(Failure) -> Value {
        do throws(AMQPError) {
            return try await work()
        } catch {
            throw .broker(error)
        }
    }

    private func withLock<Value>(
        _ work: (PauseRecords) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let lock = session.names.lockPrefix + "pauses"
        try await acquire(lock)
        let records = PauseRecords(session)
        do throws(Failure) {
            let value = try await work(records)
            await release(lock, records)
            return value
        } catch {
            await release(lock, records)
            throw error
        }
    }

    private func acquire(_ lock: String) async throws(Failure) {
        let end = session.loop.now.monotonic + .seconds(Self.lockSecondsMax)
        while true {
            let isAcquired = try await Self.asking { () async throws(AMQPError) in
                try await session.admin.acquireLock(lock)
            }
            if isAcquired { return }
            guard session.loop.now.monotonic < end else { throw .locked }
            // A random wait, so that several writers do not retry at the same time.
            let random = Int64(session.loop.nextRandom() % UInt64(Self.lockRetryMilliseconds))
            await session.loop.sleep(for: .milliseconds(Self.lockRetryMilliseconds + random))
        }
    }

    private func release(_ lock: String, _ records: PauseRecords) async {
        await records.close()
        // If the deletion fails, the broker frees the lock with the connection.
        _ = try? await session.admin.deleteQueue(lock)
    }
}
