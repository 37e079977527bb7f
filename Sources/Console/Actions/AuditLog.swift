import AMQP
import Actions
import Configuration
import ControlProtocol
import Crypto
import EventLoop

/// The console's records in the audit. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class AuditLog: @unchecked Sendable {
    /// Maximum number of records of each kind that wait for the broker's confirm.
    private static let pendingMax = 100
    /// Maximum time for which a record waits for a connection, and the time between two attempts.
    private static let reconnectSecondsMax: Int64 = 60
    private static let reconnectMilliseconds = 500
    /// The time after which a record counts omitted refusals.
    private static let omittedSeconds: Int64 = 10
    /// Maximum time for which a closing console waits for confirms. It is a part of `TimeoutStopSec=` in
    /// `deploy/systemd/martlet-console.service`.
    private static let closeMilliseconds = 5000

    /// The kinds of records. Each kind has a limit of its own while the broker is away.
    private enum Kind {
        case actions, logins, refusals
    }

    private let loop: EventLoop
    private let console: String
    private let watch: FleetWatch
    private var pending: [Kind: Int] = [:]
    private let wakeUps: ArrivalWait
    private var isClosed = false
    private var refusals = RefusalCounts()
    private var omittedTimer: TimerToken?

    init(_ watch: FleetWatch, on loop: EventLoop) {
        (self.watch, self.loop) = (watch, loop)
        console = ProcessName.current
        wakeUps = ArrivalWait(on: loop)
    }

    func record(
        by name: String, verb: String, _ phase: AuditRecord.Phase, _ outcome: AuditRecord.Outcome? = nil,
        id: UUIDValue? = nil, why: String? = nil, command: String? = nil, result: String? = nil, count: Int? = nil
    ) -> AuditRecord {
        AuditRecord(
            id: id ?? UUIDValue(randomOf: loop), at: loop.now.unixMilliseconds,
            by: name, verb: verb, phase: phase, outcome: outcome, why: why, command: command, result: result,
            count: count, console: console)
    }

    /// Publishes a record without a wait. The record is lost if the broker is away, or if too many records wait for
    /// their confirm.
    func note(_ record: AuditRecord) {
        guard let session = watch.session else { return }
        run(.actions) { _ = try? await session.write(record) }
    }

    /// Publishes a record as soon as the broker is connected. The record is lost if the broker is away for too long.
    func noteWhenConnected(_ record: AuditRecord) { noteWhenConnected(record, .actions) }

    private func noteWhenConnected(_ record: AuditRecord, _ kind: Kind) {
        run(kind) { [self] in
            let end = loop.now.monotonic + .seconds(Self.reconnectSecondsMax)
            while !isClosed, loop.now.monotonic < end {
                if let session = watch.session, (try? await session.write(record)) != nil { break }
                await wakeUps.wait(milliseconds: Self.reconnectMilliseconds) { isClosed }
            }
        }
    }

    func loggedIn(_ login: Operator, by way: String) {
        noteWhenConnected(
            record(by: login.name, verb: "login", .after, result: "\(login.role.rawValue), with \(way)"), .logins)
    }

    /// Runs a task that publishes a record. Returns false if too many of its kind are running.
    @discardableResult
    private func run(_ kind: Kind, _ publish: @escaping () async -> Void) -> Bool {
        guard pending[kind, default: 0] < Self.pendingMax else { return false }
        pending[kind, default: 0] += 1
        // Only the loop uses the closure.
        nonisolated(unsafe) let publish = publish
        Task(executorPreference: loop) { [self] in
            await publish()
            pending[kind, default: 0] -= 1
            wakeUps.notify()
        }
        return true
    }

    // MARK: Refusals

    /// Records a refusal. A later record counts the refusals above a limit, and those that the broker has not confirmed.
    ///
    /// - Parameter name: the operator; nil if unknown.
    func refused(_ what: String, by name: String? = nil) {
        refused(what, by: name, name == nil ? .unknown : .operators)
    }

    /// Records the refusal of a request because of its `Host` or `Origin` header.
    func refusedForeign(_ what: String) { refused(what, by: nil, .foreign) }

    private func refused(_ what: String, by name: String?, _ source: RefusalCounts.Source) {
        if refusals.admits(source, at: loop.now.monotonic) {
            publish(record(by: name ?? "unknown", verb: "refusal", .after, result: what), source, 1)
        }
        scheduleOmitted()
    }

    /// - Parameter count: the number of refusals that the record concerns.
    private func publish(_ record: AuditRecord, _ source: RefusalCounts.Source, _ count: Int) {
        guard let session = watch.session else { return refusals.omit(source, count) }
        let isBegun = run(.refusals) { [self] in
            guard (try? await session.write(record)) == nil else { return }
            refusals.omit(source, count)
            scheduleOmitted()
        }
        if !isBegun { refusals.omit(source, count) }
    }

    private func scheduleOmitted() {
        guard omittedTimer == nil, !isClosed, !refusals.omitted.isEmpty else { return }
        omittedTimer = loop.schedule(after: .seconds(Self.omittedSeconds)) { [self] in
            omittedTimer = nil
            recordOmitted()
            scheduleOmitted()
        }
    }

    private func recordOmitted() {
        for (source, count) in refusals.takeOmitted() {
            let result = "omitted refusals of requests \(source.rawValue): \(count)"
            publish(record(by: "unknown", verb: "refusal", .after, result: result, count: count), source, count)
        }
    }

    // MARK: Closing

    /// Publishes the count of omitted refusals, and waits for the confirms of all records, for a limited time. While the
    /// broker is away, waits only for the records of actions.
    func close() async {
        recordOmitted()
        await wakeUps.wait(milliseconds: Self.closeMilliseconds) {
            pending.allSatisfy { kind, count in count == 0 || kind != .actions && watch.session == nil }
        }
        isClosed = true
        wakeUps.notify()
        if let omittedTimer { loop.cancel(omittedTimer) }
        omittedTimer = nil
    }
}
