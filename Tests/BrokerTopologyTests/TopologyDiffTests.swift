import Testing

@testable import BrokerTopology

/// Comparisons of a topology with snapshots from the management API.
@Suite struct TopologyDiffTests {
    private let topology = Topology(waits: [WaitDelay(seconds: 30)])

    /// Returns a snapshot that matches the topology.
    private func snapshot(of topology: Topology, version: BrokerVersion = BrokerVersion(3, 10)) -> BrokerSnapshot {
        var snapshot = BrokerSnapshot()
        snapshot.version = version
        for exchange in topology.exchanges {
            snapshot.exchanges[exchange.name] = .init(
                kind: exchange.kind.rawValue, arguments: texts(exchange.arguments))
        }
        for queue in topology.queues(at: version) {
            snapshot.queues[queue.name] = .init(arguments: texts(queue.arguments))
        }
        snapshot.bindings = topology.bindings
        return snapshot
    }

    /// Returns a matching snapshot of RabbitMQ 4.0 with queues that an earlier version of RabbitMQ created. A policy,
    /// not an argument, turns off their delivery limit.
    private func snapshotWithPolicy(of topology: Topology) -> BrokerSnapshot {
        let version = BrokerVersion(4, 0)
        var snapshot = snapshot(of: topology, version: version)
        for queue in topology.queues { snapshot.queues[queue.name]?.arguments = texts(queue.arguments) }
        for policy in topology.policies(of: version) { snapshot.policies[policy.name] = policy.texts }
        for name in topology.unlimitedQueues {
            snapshot.queues[name]?.policy = ["delivery-limit": "-1"]
            snapshot.queues[name]?.policyName = "push-deliveries"
        }
        return snapshot
    }

    private func texts(_ arguments: [Topology.Argument]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: arguments.map { ($0.name, $0.value.plainText) })
    }

    /// Returns the faults after a change of the matching snapshot.
    private func faults(_ change: (inout BrokerSnapshot) -> Void) -> [String] {
        var snapshot = snapshot(of: topology)
        change(&snapshot)
        return faults(snapshot, topology)
    }

    private func faults(_ snapshot: BrokerSnapshot, _ topology: Topology) -> [String] {
        TopologyDiff(topology: topology, snapshot: snapshot, advice: TopologyAdvice(virtualHost: "/"))
            .findings.filter { $0.state != .present }.map(text)
    }

    private func text(_ finding: TopologyFinding) -> String { "\(finding.state) \(finding.subject): \(finding.advice)" }

    @Test func aMatchingSnapshotHasNoFaults() { #expect(faults { _ in } == []) }

    @Test func missingObjectsAreReported() {
        #expect(
            faults { snapshot in
                snapshot.exchanges["push.dead"] = nil
                snapshot.queues["push.requests"] = nil
                snapshot.bindings.removeAll { $0.queue == "push.quarantine" }
            } == [
                "missing exchange push.dead: run martlet topology apply",
                "missing queue push.requests: run martlet topology apply",
                "missing binding of push.quarantine to push.quarantine: run martlet topology apply",
            ])
    }

    @Test func formerBindingsOfExpiredRequestsAreReported() {
        let former = Topology.Binding(queue: "push.dead", exchange: "push.dlx", routingKey: "")
        #expect(
            faults { snapshot in
                snapshot.bindings.removeAll { $0.queue == "push.expired" }
                snapshot.bindings += [
                    former, .init(queue: "push.expired", exchange: "push.dlx.sort", routingKey: ""),
                ]
            }.map { String($0.prefix { $0 != "," }) } == [
                "missing binding of push.expired to push.dlx.sort by x-first-death-reason=expired x-match=all-with-x: run "
                    + "martlet topology apply",
                "differs binding of push.dead to push.dlx: the binding belongs to another configuration or version",
            ])
    }

    @Test func mismatchedObjectsHaveARemedy() {
        let faults = faults { snapshot in
            snapshot.exchanges["push.dlx"]?.kind = "direct"
            snapshot.queues["push.wait.30s.1"]?.arguments["x-message-ttl"] = "5"
            snapshot.queues["push.dead"]?.arguments["x-delivery-limit"] = "3"
        }
        #expect(
            faults.map { String($0.prefix { $0 != ";" }) } == [
                "differs exchange push.dlx: the type is direct instead of fanout",
                "differs queue push.dead: x-delivery-limit is 3 instead of not set",
                "differs queue push.wait.30s.1: x-message-ttl is 5 instead of 30000",
            ])
        #expect(faults[1].contains("rabbitmqctl delete_queue -p '/' --if-empty 'push.dead'"))
    }

    @Test func streamsAreCompared() {
        let topology = Topology(waits: [], hasFleetControl: true)
        var snapshot = snapshot(of: topology, version: BrokerVersion(4, 0))
        #expect(faults(snapshot, topology) == [])
        snapshot.exchanges["push.fleet"]?.kind = "direct"
        snapshot.queues["push.pauses"]?.arguments["x-max-length-bytes"] = "5"
        snapshot.queues["push.commands"] = nil
        snapshot.bindings.removeAll { $0.queue == "push.commands" }
        #expect(
            faults(snapshot, topology).map { String($0.prefix { $0 != ";" }) } == [
                "differs exchange push.fleet: the type is direct instead of topic",
                "differs queue push.pauses: x-max-length-bytes is 5 instead of 20000000",
                "missing queue push.commands: run martlet topology apply",
                "missing binding of push.commands to push.control by command.#: run martlet topology apply",
                "missing binding of push.commands to push.control by audit.#: run martlet topology apply",
            ])
        // RabbitMQ counts no record as a ready message, so `--if-empty` would protect no record.
        #expect(
            faults(snapshot, topology)[1].hasSuffix(
                "; a broker cannot change an existing stream: run rabbitmqctl delete_queue -p '/' 'push.pauses', which "
                    + "deletes its records, then run martlet topology apply again"))
    }

    @Test func unboundedResultQueuesNeedAPolicy() {
        let faults = faults { $0.queues["push.results"]?.arguments = ["x-queue-type": "quorum"] }
        #expect(faults.count == 1)
        #expect(
            faults[0].contains("the queue lacks a bound; a policy sets bounds without deleting the queue"))
        let command = #"'push.results-bounds' '^push\.results$' '{"message-ttl":259200000,"max-length":1000000}'"#
        #expect(faults[0].hasSuffix(command))
        let bounded = self.faults { snapshot in
            snapshot.queues["push.results"] = .init(
                arguments: ["x-queue-type": "quorum"], policy: ["message-ttl": "5", "max-length": "6"])
        }
        #expect(bounded == [])
    }

    // A request queue that the configuration no longer contains may still have its binding.
    @Test func bindingsOfEarlierConfigurationsAreReported() {
        let several = Topology(
            names: TopologyNames(requestQueues: ["push.requests", "push.bulk"]), waits: [WaitDelay(seconds: 30)])
        var snapshot = snapshot(of: topology)
        let bulk = Topology.Binding(queue: "push.bulk", exchange: "push.requests", routingKey: "bulk")
        snapshot.bindings.append(bulk)
        snapshot.queues["push.bulk"] = snapshot.queues["push.requests"]
        // The queue `audit` belongs to another consumer.
        snapshot.bindings.append(.init(queue: "audit", exchange: "push.requests", routingKey: "#"))
        snapshot.queues["audit"] = .init(arguments: ["x-queue-type": "quorum"])
        #expect(snapshot.staleBindings(of: topology) == [] && snapshot.foreignBindings(of: topology) == [bulk])
        var divided = snapshot
        let shards = Topology.Binding(
            destination: "push.bulk.shards", kind: .exchange, exchange: "push.requests", routingKey: "bulk")
        divided.bindings.append(shards)
        #expect(divided.foreignBindings(of: topology) == [bulk, shards])
        let every = Topology.Binding(queue: "push.requests", exchange: "push.requests", routingKey: "#")
        #expect(snapshot.staleBindings(of: several) == [every])
        // A queue without consumers is no fault, because its workers may be stopped temporarily.
        #expect(faults(snapshot, topology) == [])
        func advice() -> String? {
            TopologyDiff(topology: topology, snapshot: snapshot, advice: TopologyAdvice(virtualHost: "/"))
                .findings.first { $0.subject == "binding of push.bulk to push.requests by bulk" }?.advice
        }
        #expect(advice()?.hasSuffix("--former 'push.bulk=bulk'") == true)
        snapshot.queues["push.bulk"]?.consumerCount = 2
        #expect(advice() == "workers of another configuration consume the queue")
    }

    // A leftover binding of the undivided queue would route each request to two queues.
    @Test func incompleteShardingIsReported() {
        let divided = Topology(names: TopologyNames(shards: ["push.requests": 2]), waits: [WaitDelay(seconds: 30)])
        var snapshot = snapshot(of: divided)
        #expect(faults(snapshot, divided) == [])
        let whole = Topology.Binding(queue: "push.requests", exchange: "push.requests", routingKey: "#")
        snapshot.bindings.append(whole)
        #expect(snapshot.staleBindings(of: divided) == [whole])
        snapshot.bindings.removeAll { $0 == whole || $0.destination == "push.requests.1" }
        snapshot.exchangeTypes = ["topic"]
        #expect(
            faults(snapshot, divided) == [
                text(.missingPlugin),
                "missing binding of push.requests.1 to push.requests.shards by 1: run martlet topology apply",
            ])
        // The configuration returns to one queue.
        let left = faults(snapshot, topology)
        #expect(
            left.contains { $0.hasPrefix("differs binding of exchange push.requests.shards to push.requests by #") })
        #expect(!left.contains { $0.contains("plugin") })
    }

    @Test func missingAndMismatchedPoliciesAreReported() {
        #expect(faults(snapshot(of: topology, version: BrokerVersion(4, 0)), topology) == [])
        var snapshot = snapshotWithPolicy(of: topology)
        #expect(faults(snapshot, topology) == [])
        snapshot.policies = [:]
        for name in topology.unlimitedQueues { snapshot.queues[name]?.policy = [:] }
        snapshot.queues["push.requests"]?.arguments["x-delivery-limit"] = "-1"
        #expect(
            faults(snapshot, topology) == [
                "missing policy push-deliveries: without the policy, RabbitMQ 4.0 removes messages that were requeued too often from "
                    + "push.quarantine, push.expired, push.dead; run martlet topology apply"
            ])
        let texts = topology.policies(of: BrokerVersion(4, 0))[0].texts
        for (key, value) in [("pattern", "x"), ("apply-to", "exchanges"), ("priority", "0"), ("delivery-limit", "5")] {
            snapshot.policies = ["push-deliveries": texts.merging([key: value]) { $1 }]
            let wanted = texts[key] ?? ""
            #expect(
                faults(snapshot, topology) == [
                    "differs policy push-deliveries: \(key) is \(value) instead of \(wanted); run martlet topology apply"
                ])
        }
        snapshot.policies = ["push-deliveries": texts.merging(["priority": "7"]) { $1 }]
        #expect(faults(snapshot, topology) == [])
        // A raised priority is accepted, even while another setting differs.
        snapshot.policies["push-deliveries"]?["delivery-limit"] = "5"
        #expect(
            faults(snapshot, topology) == [
                "differs policy push-deliveries: delivery-limit is 5 instead of -1; run martlet topology apply"
            ])
        #expect(topology.policies(of: BrokerVersion(4, 0))[0].withPriority(of: ["priority": "7"]).priority == 7)
        snapshot.policies = [:]
        snapshot.seesPolicies = false
        #expect(
            faults(snapshot, topology) == [
                "unseen policy push-deliveries: cannot read policies: the user of amqp.management_url needs the tag "
                    + "policymaker"
            ])
    }

    // A limit in a foreign policy applies even if the argument turns the limit off.
    @Test func aDeliveryLimitOfAnotherPolicyIsReported() {
        for version in [BrokerVersion(3, 13), BrokerVersion(4, 0)] {
            var snapshot = snapshot(of: topology, version: version)
            snapshot.queues["push.dead"]?.policy = ["delivery-limit": "20"]
            snapshot.queues["push.dead"]?.policyName = "everything+mine"
            let found = faults(snapshot, topology).filter { !$0.contains("policy push-deliveries") }
            #expect(found.count == 1)
            #expect(
                found.first?.hasPrefix(
                    "differs delivery limit of queue push.dead: RabbitMQ \(version) removes a message that was "
                        + "requeued 20 times (policy everything+mine); ") == true, "\(found)")
        }
    }

    // RabbitMQ applies one policy to a queue, apart from operator policies. Another policy without a limit leaves the
    // broker's default of 20.
    @Test func anotherPolicyWithoutALimitLeavesTheBrokersDefault() {
        var snapshot = snapshotWithPolicy(of: topology)
        snapshot.queues["push.dead"]?.policy = ["max-length": "5"]
        snapshot.queues["push.dead"]?.policyName = "everything"
        let fault =
            "differs delivery limit of queue push.dead: RabbitMQ 4.0 removes a message that was requeued 20 times "
            + "(the default: policy everything sets no limit); set \"delivery-limit\": -1 in policy everything, which "
            + "RabbitMQ applies to the queue instead of push-deliveries"
        #expect(faults(snapshot, topology) == [fault])
        // A missing policy does not hide the fault.
        snapshot.policies = [:]
        #expect(faults(snapshot, topology).contains(fault))
        // The argument applies if no policy sets a limit.
        snapshot.queues["push.dead"]?.arguments["x-delivery-limit"] = "-1"
        #expect(!faults(snapshot, topology).contains { $0.contains("push.dead:") })
    }

    // Without statistics, the limits are unknown, so `ok` would be unfounded.
    @Test func disabledStatisticsLeaveLimitsUnseen() {
        var snapshot = snapshotWithPolicy(of: topology)
        snapshot.showsStatistics = false
        for name in topology.unlimitedQueues {
            snapshot.queues[name]?.policy = [:]
            snapshot.queues[name]?.isPolicySeen = false
        }
        #expect(
            faults(snapshot, topology) == [
                "unseen delivery limit of push.requests, push.quarantine, push.expired, push.dead: the management API does not show "
                    + "effective policies: the statistics are disabled (management.disable_stats); run "
                    + "rabbitmqctl list_queues -p '/' name arguments effective_policy_definition"
            ])
        snapshot.policies = [:]
        #expect(faults(snapshot, topology).first?.hasPrefix("missing policy push-deliveries: ") == true)
    }

    // For some seconds after a policy that removes a limit is set, the statistics still show the limit.
    @Test func limitsAreReadAgainOnlyAfterANewPolicy() {
        var snapshot = snapshotWithPolicy(of: topology)
        #expect(!snapshot.mayShowFormerLimits(of: topology))
        snapshot.queues["push.dead"]?.policy = [:]
        snapshot.queues["push.dead"]?.policyName = ""
        #expect(snapshot.mayShowFormerLimits(of: topology))
        snapshot.seesPolicies = false
        #expect(snapshot.mayShowFormerLimits(of: topology))
        snapshot.seesPolicies = true
        snapshot.policies = [:]
        #expect(!snapshot.mayShowFormerLimits(of: topology))
        var three = self.snapshot(of: topology)
        three.queues["push.dead"]?.policy = ["delivery-limit": "5"]
        #expect(!three.mayShowFormerLimits(of: topology))
    }

    // RabbitMQ 3.x accepts `x-delivery-limit: -1`, and discards a message when it is first requeued.
    @Test func theArgumentOfLaterVersionsIsAMismatchBefore() {
        var snapshot = snapshot(of: topology)
        snapshot.queues["push.dead"]?.arguments["x-delivery-limit"] = "-1"
        let found = faults(snapshot, topology)
        #expect(found.count == 1)
        #expect(found[0].hasPrefix("differs queue push.dead: x-delivery-limit is -1 instead of not set; "))
        snapshot.version = BrokerVersion(4, 0)
        snapshot.queues["push.requests"]?.arguments["x-delivery-limit"] = "-1"
        snapshot.queues["push.quarantine"]?.arguments["x-delivery-limit"] = "-1"
        snapshot.queues["push.expired"]?.arguments["x-delivery-limit"] = "-1"
        #expect(faults(snapshot, topology) == [])
        snapshot.queues["push.dead"]?.arguments["x-delivery-limit"] = "7"
        #expect(
            faults(snapshot, topology).first?.hasPrefix(
                "differs queue push.dead: x-delivery-limit is 7 instead of not set; ") == true)
    }
}
