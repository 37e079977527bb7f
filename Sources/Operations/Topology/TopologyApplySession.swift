import AMQP
import CommandKit
import Delivery
import EventLoop
import Text

/// Declares the topology and prints the result of each step.
struct TopologyApplySession {
    static let connectDeadlineSeconds = 15

    let target: TopologyTarget
    /// Bindings of earlier configurations, as the operator names them.
    let former: [Topology.Binding]
    private let setsPolicies: Bool

    init(target: TopologyTarget, _ options: TopologyApplyCommand.Options) {
        self.target = target
        setsPolicies = options.setsPolicies
        former = options.former.map { queue in
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
        let version = picture?.version ?? BrokerVersion(admin.serverProperties)
        var application = TopologyApplication(
            admin: admin, version: version, picture: picture, advice: target.advice, report: print)
        do {
            var failures = try await application.apply(target.topology, former: former)
            if setsPolicies, let version {
                failures += await setPolicies(of: version, picture, limited: application.limitedQueues)
            }
            return failures == 0 ? .success : .failed
        } catch {
            Terminal.error.line(target.access.line(error))
            return error.isUnreachable ? .unreachable : .failed
        }
    }

    /// Sets the policies that the broker's version needs. One that no queue needs is not set: a queue follows one policy
    /// only, and ours would take the place of an operator's.
    ///
    /// - Parameter limited: queues without the argument that turns off the delivery limit.
    /// - Returns: how many are left to be set.
    private func setPolicies(
        of version: BrokerVersion, _ picture: BrokerPicture?, limited: [String]
    ) async -> Int {
        let limited = picture?.limitedQueues(of: target.topology, declaredWithLimit: limited) ?? limited
        var left = 0
        for policy in target.topology.policies(of: version) {
            guard !limited.isEmpty || picture?.policies[policy.name] != nil else { continue }
            let result = await set(policy, of: version, picture, for: limited)
            if case .failed = result { left += 1 }
            print(TopologyApplication.Step(subject: "policy \(policy.name)", result: result))
        }
        return left
    }

    private func set(
        _ policy: Topology.Policy, of version: BrokerVersion, _ picture: BrokerPicture?, for limited: [String]
    ) async -> TopologyApplication.Step.Result {
        let command = RabbitmqctlScript.command(policy, virtualHost: target.virtualHost)
        guard let management = target.management, let picture else {
            return .failed(
                "only the management API (amqp.management_url) shows and sets it, and without it RabbitMQ \(version) takes "
                    + "what was returned \(DeliveryLimit.standard) times out of \(limited.joined(separator: ", ")): "
                    + "run \(command), then martlet topology apply --without-policies")
        }
        let there = picture.policies[policy.name]
        let policy = there.map { policy.raised(like: $0) } ?? policy
        if there == policy.texts { return .present }
        if let failure = await management.set(policy) { return .failed("\(failure.message): \(command)") }
        return there == nil ? .created : .changed
    }

    private func print(_ step: TopologyApplication.Step) {
        let text = target.commands.completed(step.text)
        if case .failed = step.result {
            Terminal.error.line("martlet: \(text)".printable)
        } else {
            Terminal.output.line(text.printable)
        }
    }
}

extension BrokerVersion {
    /// As a broker says it when one logs in; nil of what is not RabbitMQ.
    init?(_ serverProperties: FieldTable) {
        guard serverProperties["product"]?.stringValue == "RabbitMQ",
            let text = serverProperties["version"]?.stringValue
        else { return nil }
        self.init(text)
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
