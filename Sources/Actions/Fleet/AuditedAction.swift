package import AMQP
import Configuration
package import ControlProtocol
import Crypto
import EventLoop

/// The records of one action in the audit: one before the action, and one with its result. Loop-bound.
package struct AuditedAction {
    private let action: OperatorAction
    private let session: FleetSession
    private let operatorName: String
    private let why: String?
    private let id: UUIDValue

    /// - Parameters:
    ///   - session: a started session.
    ///   - why: the reason; nil without one.
    package init(_ action: OperatorAction, in session: FleetSession, by operatorName: String, why: String?) {
        (self.action, self.session, self.operatorName, self.why) = (action, session, operatorName, why)
        id = UUIDValue(randomOf: session.loop)
    }

    /// Publishes the record before the action. After an error, the action must not begin.
    package func begin() async throws(AMQPError) { try await session.write(record(.before)) }

    /// Publishes the record after the action. The record is lost if the broker is away.
    package func end(_ outcome: AuditRecord.Outcome, _ result: String, count: Int? = nil) async {
        _ = try? await session.write(record(.after, outcome, result, count))
    }

    private func record(
        _ phase: AuditRecord.Phase, _ outcome: AuditRecord.Outcome? = nil, _ result: String? = nil, _ count: Int? = nil
    ) -> AuditRecord {
        AuditRecord(
            id: id, at: session.loop.now.unixMilliseconds, by: operatorName, verb: action.name, phase: phase,
            outcome: outcome, why: why, command: action.recordedCommandLine, result: result, count: count,
            console: ProcessName.current)
    }
}

extension FleetSession {
    /// Publishes a record of the audit, and waits for the broker's confirm.
    package func write(_ record: AuditRecord) async throws(AMQPError) {
        try await publish(record.json, type: AuditRecord.type, key: record.routingKey)
    }
}
