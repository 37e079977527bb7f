import AMQP
import BrokerTopology
import Testing

@testable import BrokerManagement

/// Faults that follow from a queue's depth, consumers and limits.
@Suite struct QueueConditionsTests {
    private static let topology = Topology(names: TopologyNames())

    private func conditions(
        _ statuses: [(String, Int, Int)], _ queues: [String: BrokerSnapshot.Queue]? = [:]
    ) -> QueueConditions {
        var snapshot: BrokerSnapshot?
        if let queues {
            var seen = BrokerSnapshot()
            seen.queues = queues
            seen.bindings = [Topology.Binding(queue: "own", exchange: "push.results", routingKey: "result.#")]
            snapshot = seen
        }
        return QueueConditions(
            topology: Self.topology,
            statuses: statuses.map { QueueStatus(name: $0, messages: $1, consumers: $2) },
            management: snapshot.map { .success($0) })
    }

    @Test func requestsWithoutAConsumerAreAFault() {
        let found = conditions([
            ("push.requests", 2600, 0), ("push.quarantine", 1, 0), ("push.expired", 3, 0), ("push.dead", 9, 0),
        ])
        #expect(
            found.faults.map { "\($0.queue): \($0.text)" } == [
                "push.requests: 2600 requests wait and no worker consumes",
                "push.quarantine: 1 request waits and no worker consumes",
                "push.expired: 3 requests wait and no worker consumes",
            ])
    }

    @Test func commandsWithoutAConsumerAreAFault() {
        let statuses = [("push.channels", 1, 0), ("push.registrations", 7, 0)].map {
            QueueStatus(name: $0, messages: $1, consumers: $2)
        }
        let topology = Topology(hasChannelCommands: true, hasRegistrations: true)
        #expect(
            QueueConditions(topology: topology, statuses: statuses).faults.map { "\($0.queue): \($0.text)" } == [
                "push.channels: 1 command waits and no worker consumes",
                "push.registrations: 7 commands wait and no worker consumes",
            ])
        #expect(QueueConditions(topology: Topology(), statuses: statuses).faults == [])
    }

    @Test func anEmptyOrConsumedQueueHasNoFault() {
        let found = conditions([("push.requests", 5, 2), ("push.quarantine", 0, 0), ("push.dead", 9, 0)])
        #expect(found.faults == [])
    }

    // The lower limit of the argument and the policy applies. A queue that drops its oldest messages
    // refuses nothing.
    @Test(arguments: [
        (["x-overflow": "reject-publish"], ["max-length": "3"], 3, 0, true),
        (["x-overflow": "reject-publish", "x-max-length": "9"], ["max-length": "3"], 3, 0, true),
        (["x-overflow": "reject-publish", "x-max-length": "9"], ["max-length": "3"], 2, 0, false),
        ([:], ["overflow": "reject-publish-dlx", "max-length": "3"], 3, 0, true),
        ([:], ["overflow": "reject-publish", "max-length-bytes": "100"], 1, 100, true),
        ([:], ["overflow": "reject-publish", "max-length-bytes": "100"], 1, 99, false),
        ([:], ["max-length": "3"], 3, 0, false), (["x-overflow": "drop-head"], ["max-length": "3"], 3, 0, false),
        (["x-overflow": "reject-publish"], [:], 1_000_000, 0, false),
    ])
    func aFullQueueThatRefusesIsAFault(
        arguments: [String: String], policy: [String: String], messages: Int, bytes: Int, isFull: Bool
    ) {
        var queue = BrokerSnapshot.Queue()
        (queue.arguments, queue.policy, queue.policyName, queue.readyBytes) = (arguments, policy, "cap", bytes)
        let found = conditions([("own", messages, 0)], ["own": queue])
        #expect(found.faults.count == (isFull ? 1 : 0), "\(found.faults)")
        guard let fault = found.faults.first else { return }
        #expect(
            fault.text.hasSuffix(
                "policy cap) and refuses more messages: results cannot be published, and workers stop consuming")
        )
        #expect(
            fault.remedy == "consume from own, or raise \(bytes == 0 ? "max-length" : "max-length-bytes") in policy cap"
        )
    }

    // A policy neither raises a limit of the arguments nor overrides `x-overflow`.
    @Test(arguments: [
        (["x-overflow": "reject-publish", "x-max-length": "3"], [:]),
        (["x-overflow": "reject-publish", "x-max-length": "3"], ["max-length": "9", "overflow": "drop-head"]),
    ])
    func aLimitByArgumentNeedsAnotherQueue(arguments: [String: String], policy: [String: String]) {
        let queue = BrokerSnapshot.Queue(arguments: arguments, policy: policy, policyName: "cap")
        #expect(
            conditions([("own", 3, 0)], ["own": queue]).faults.map(\.remedy) == [
                "consume from own, or once the queue is empty, run rabbitmqctl delete_queue -p '/' --if-empty 'own', "
                    + "then declare the queue again with other arguments"
            ])
    }

    @Test func aPolicyThatRefusesAtAnArgumentsLimitCanDropInstead() {
        let queue = BrokerSnapshot.Queue(
            arguments: ["x-max-length": "3"], policy: ["overflow": "reject-publish"], policyName: "cap")
        #expect(
            conditions([("own", 3, 0)], ["own": queue]).faults.map(\.remedy)
                == ["consume from own, or set overflow to drop-head in policy cap"])
    }
}
