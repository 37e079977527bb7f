import AMQP
import Delivery
import EventLoop

/// Declares the topology and says what became of each part of it.
struct TopologyCommand {
    static let connectDeadlineSeconds = 15

    let target: TopologyTarget
    /// Bindings of earlier configurations, as the operator names them.
    let former: [Topology.Binding]

    init(target: TopologyTarget, former: [Invocation.FormerQueue]) {
        self.target = target
        self.former = former.map { queue in
            Topology.Binding(
                queue: queue.name, exchange: target.topology.names.requestsExchange,
                routingKey: queue.routingKey ?? Topology.lastWord(of: queue.name))
        }
    }

    func apply(on loop: EventLoop) async -> ExitCode {
        let admin = target.access.admin(named: "martlet topology", on: loop)
        BrokerWait.follow(admin.connection, target.access)
        admin.start()
        let code = await apply(with: admin)
        await admin.close()
        return code
    }

    private func apply(with admin: BrokerAdmin) async -> ExitCode {
        var picture: BrokerPicture?
        switch await target.management?.picture(of: target.topology) {
        case .success(let seen): picture = seen
        case .failure(let failure): Terminal.error.line("martlet: not seen: \(failure.message)".printable)
        case nil: break
        }
        do {
            try await admin.waitUntilReady(deadlineSeconds: Self.connectDeadlineSeconds)
        } catch {
            Terminal.error.line(target.access.line(error))
            return .unreachable
        }
        var application = TopologyApplication(
            admin: admin, picture: picture, advice: target.advice, report: Self.print)
        do {
            var failures = try await application.apply(target.topology, former: former)
            if let picture { failures += await setPolicies(picture) }
            return failures == 0 ? .success : .failed
        } catch {
            Terminal.error.line(target.access.line(error))
            return error.isUnreachable ? .unreachable : .failed
        }
    }

    /// Returns how many failed.
    private func setPolicies(_ picture: BrokerPicture) async -> Int {
        guard let management = target.management, let version = picture.version else { return 0 }
        var failures = 0
        for policy in target.topology.policies(of: version) {
            let there = picture.policies[policy.name]
            let result: TopologyApplication.Step.Result
            if there == policy.texts {
                result = .present
            } else if let failure = await management.set(policy) {
                result = .failed(failure.message)
                failures += 1
            } else {
                result = there == nil ? .created : .changed
            }
            Self.print(TopologyApplication.Step(subject: "policy \(policy.name)", result: result))
        }
        return failures
    }

    private static func print(_ step: TopologyApplication.Step) {
        if case .failed = step.result {
            Terminal.error.line("martlet: \(step.text)".printable)
        } else {
            Terminal.output.line(step.text.printable)
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
