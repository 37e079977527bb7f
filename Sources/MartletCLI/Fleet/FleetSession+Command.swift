import AMQP
import Actions
import BrokerManagement
import CommandKit
import Configuration
import EventLoop

extension FleetSession {
    /// Runs the work of a command in an open session, and closes the session. Prints an error of the broker.
    ///
    /// - Parameter command: the name of the connection, such as `martlet status`.
    static func run(
        _ connector: BrokerConnector, command: String,
        _ work: @escaping @Sendable (FleetSession) async throws(AMQPError) -> ExitCode
    ) -> ExitCode {
        CommandLoop.run { loop in
            let session = FleetSession(connector, on: loop, command: command)
            BrokerWait.follow(session.connection, connector)
            let code: ExitCode
            do throws(AMQPError) {
                try await session.open()
                code = try await work(session)
            } catch {
                Terminal.error.line(connector.line(error))
                code = error.isUnreachable ? .unreachable : .failed
            }
            await session.close()
            return code
        }
    }
}
