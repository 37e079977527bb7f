import AMQP
import Actions
import BrokerManagement
import BrokerTopology
import CommandKit
import Configuration
import EventLoop
import Text

/// The declaration of the topology. Prints the outcome of each step.
struct TopologyApplySession {
    let target: TopologyTarget
    /// Bindings of earlier configurations. The operator named the bindings with `--former`. The session removes them.
    let former: [Topology.Binding]
    private let setsPolicies: Bool

    init(target: TopologyTarget, _ options: TopologyApplyCommand.Options) {
        self.target = target
        setsPolicies = options.setsPolicies
        former = options.former.map { queue in
            Topology.Binding(
                queue: queue.name, exchange: target.inspector.topology.names.requestsExchange,
                routingKey: queue.routingKey ?? Topology.lastWord(of: queue.name))
        }
    }

    func apply(on loop: EventLoop) async -> ExitCode {
        let admin = target.connector.admin(named: "martlet topology", on: loop)
        BrokerWait.follow(admin.connection, target.connector)
        admin.start()
        let code = await apply(with: admin)
        await admin.close()
        return code
    }

    private func apply(with admin: BrokerAdmin) async -> ExitCode {
        let inspector = target.inspector
        var snapshot: BrokerSnapshot?
        switch await inspector.management?.snapshot(of: inspector.topology) {
        case .success(let seen): snapshot = seen
        case .failure(let failure):
            Terminal.error.line(
                "martlet: cannot query the management API: \(failure.message); check amqp.management_url and its user"
                    .printable)
        case nil: break
        }
        do {
            try await admin.waitUntilReady(deadlineSeconds: BrokerConnector.connectDeadlineSeconds)
        } catch {
            Terminal.error.line(target.connector.line(error))
            return .unreachable
        }
        var declarer = TopologyDeclarer(
            inspector.topology, admin: admin, version: snapshot?.version ?? BrokerVersion(admin.serverProperties),
            snapshot: snapshot, advice: inspector.advice, report: print)
        do {
            var failures = try await declarer.declare(removing: former)
            if setsPolicies { failures += await declarer.setPolicies(through: inspector.management) }
            if failures == 0, inspector.topology.hasFleetControl { failures += try await writeFirstPauses(on: admin) }
            return failures == 0 ? .success : .failed
        } catch {
            Terminal.error.line(target.connector.line(error))
            return error.isUnreachable ? .unreachable : .failed
        }
    }

    /// Writes the first record of pauses, unless the stream has one. Workers wait for a limited time for a record
    /// before they consume. Returns the number of failures.
    private func writeFirstPauses(on admin: BrokerAdmin) async throws(AMQPError) -> Int {
        let session = FleetSession(target.connector, on: admin.connection.loop, command: "martlet topology")
        let stream = target.inspector.topology.names.pausesStream
        let failure: PauseWriter.Failure
        do throws(PauseWriter.Failure) {
            session.start()
            let isWritten = try await PauseWriter(session).writeFirst()
            await session.close()
            Terminal.output.line("\(isWritten ? "created " : "present ") record of pauses in \(stream)".printable)
            return 0
        } catch {
            failure = error
        }
        await session.close()
        if case .broker(let error) = failure { throw error }
        let sentence = target.commands.completed(failure.sentence)
        Terminal.error.line("martlet: failed   record of pauses in \(stream): \(sentence)".printable)
        return 1
    }

    private func print(_ step: TopologyDeclarer.Step) {
        let text = target.commands.completed(step.text)
        if case .failed = step.result {
            Terminal.error.line("martlet: \(text)".printable)
        } else {
            Terminal.output.line(text.printable)
        }
    }
}

extension TopologyDeclarer.Step {
    /// One line for an operator.
    fileprivate var text: String {
        switch result {
        case .created: "created  \(subject)"
        case .present: "present  \(subject)"
        case .changed: "changed  \(subject)"
        case .bound: "bound    \(subject)"
        case .unbound: "unbound  \(subject)"
        case .deleted: "deleted  \(subject)"
        case .unused(let advice): "unused   \(subject): \(advice)"
        case .kept(let advice): "kept     \(subject): \(advice)"
        case .failed(let reason): "failed   \(subject): \(reason)"
        }
    }
}
