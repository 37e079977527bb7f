import AMQP
import Delivery
import EventLoop

/// Declares the topology and tells of each step.
struct TopologyCommand {
    private static let connectDeadlineSeconds = 15

    let access: BrokerAccess
    let topology: Topology

    func apply(on loop: EventLoop) async -> ExitCode {
        let admin = BrokerAdmin(
            loop: loop, connectors: access.connectors(on: loop),
            connection: access.connection(named: "martlet topology"),
            deadlineSeconds: Self.connectDeadlineSeconds)
        BrokerWait.follow(admin.connection, access)
        admin.start()
        let code = await apply(with: admin)
        await admin.close()
        return code
    }

    private func apply(with admin: BrokerAdmin) async -> ExitCode {
        var application = TopologyApplication(admin: admin) { step in
            if case .failed = step.result {
                Terminal.error.line("martlet: \(step.text)".printable)
            } else {
                Terminal.output.line(step.text.printable)
            }
        }
        do {
            return try await application.apply(topology) == 0 ? .success : .failed
        } catch {
            Terminal.error.line(access.line(error))
            return error.isUnreachable ? .unreachable : .failed
        }
    }
}

extension AMQPError {
    /// Whether the broker is not there, rather than refusing something.
    var isUnreachable: Bool {
        switch code {
        case .cannotConnect, .connectionLost, .timedOut, .connectionForced, .protocolViolation, .closed: true
        case .accessRefused, .notFound, .resourceLocked, .preconditionFailed, .consumerCancelled, .refused, .invalidURL:
            false
        }
    }
}
