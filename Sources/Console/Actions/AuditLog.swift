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
    /// Maximum number of records of refusals a second, after a burst, so that an attacker cannot displace other records
    /// of the stream.
    private static let refusalsPerSecond = 1
    private static let refusalsBurst = 20
    /// Maximum number of records that wait for the broker's confirm.
    private static let pendingMax = 100
    /// Maximum time for which a record waits for a connection, and the time between two attempts.
    private static let reconnectSecondsMax: Int64 = 60
    private static let reconnectMilliseconds: Int64 = 500

    private let loop: EventLoop
    private let console: String
    private let watch: FleetWatch
    private var pace = RequestPace(perSecond: AuditLog.refusalsPerSecond, burst: AuditLog.refusalsBurst)
    private var pendingCount = 0

    init(_ watch: FleetWatch, on loop: EventLoop) {
        (self.watch, self.loop) = (watch, loop)
        console = ProcessName.current
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
        guard let session = watch.session, pendingCount < Self.pendingMax else { return }
        pendingCount += 1
        Task(executorPreference: loop) { [self] in
            _ = try? await session.write(record)
            pendingCount -= 1
        }
    }

    /// Publishes a record as soon as the broker is connected. The record is lost if the broker is away for too long.
    func noteWhenConnected(_ record: AuditRecord) {
        guard pendingCount < Self.pendingMax else { return }
        pendingCount += 1
        Task(executorPreference: loop) { [self] in
            let end = loop.now.monotonic + .seconds(Self.reconnectSecondsMax)
            while !watch.isClosing, loop.now.monotonic < end {
                if let session = watch.session, (try? await session.write(record)) != nil { break }
                await loop.sleep(for: .milliseconds(Self.reconnectMilliseconds))
            }
            pendingCount -= 1
        }
    }

    func loggedIn(_ login: Operator, by way: String) {
        note(record(by: login.name, verb: "login", .after, result: "\(login.role.rawValue), with \(way)"))
    }

    /// Records a refusal. Records above a limit are dropped.
    ///
    /// - Parameter name: the operator; nil if unknown.
    func refused(_ what: String, by name: String? = nil) {
        guard pace.admits(at: loop.now.monotonic) else { return }
        note(record(by: name ?? "unknown", verb: "refusal", .after, result: what))
    }
}
