import AMQP
import Actions
import BrokerManagement
import CommandKit
import Configuration
import ControlProtocol
import Crypto
import EventLoop

/// The records of an erasure in the audit.
struct HistoryAudit {
    private let connector: BrokerConnector
    private let command: String
    private let id: UUIDValue

    /// - Parameter command: the command line without the subject.
    init(_ broker: WorkerConfiguration.Broker, command: String) throws(CryptoError) {
        connector = try BrokerConnector(broker)
        self.command = command
        id = try UUIDValue.random()
    }

    /// Publishes a record, and waits for the broker's confirm. Prints an error of the broker, and returns its exit code.
    func record(
        _ phase: AuditRecord.Phase, _ outcome: AuditRecord.Outcome? = nil, result: String? = nil, count: Int? = nil
    ) -> ExitCode {
        FleetSession.run(connector, command: "martlet history erase") { session async throws(AMQPError) in
            try await session.write(
                AuditRecord(
                    id: id, at: session.loop.now.unixMilliseconds, by: PauseNote.operatorName, verb: "erase",
                    phase: phase, outcome: outcome, command: command, result: result, count: count,
                    console: ProcessName.current))
            return .success
        }
    }
}
