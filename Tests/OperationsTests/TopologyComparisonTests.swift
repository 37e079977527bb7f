import Delivery
import Testing

@testable import Operations

/// What the broker's management shows, beside what should be.
@Suite struct TopologyComparisonTests {
    private let topology = Topology(waits: [WaitDelay(seconds: 30)])

    /// All as it should be.
    private func picture(of topology: Topology, version: BrokerVersion = BrokerVersion(3, 10)) -> BrokerPicture {
        var picture = BrokerPicture()
        picture.version = version
        for exchange in topology.exchanges {
            picture.exchanges[exchange.name] = .init(kind: exchange.kind.rawValue, arguments: texts(exchange.arguments))
        }
        for queue in topology.queues(at: version) {
            picture.queues[queue.name] = .init(arguments: texts(queue.arguments))
        }
        picture.bindings = topology.bindings
        return picture
    }

    /// With queues of a time when they had no argument against the delivery limit, and the policy instead.
    private func pictureWithPolicy(of topology: Topology) -> BrokerPicture {
        let version = BrokerVersion(4, 0)
        var picture = picture(of: topology, version: version)
        for queue in topology.queues { picture.queues[queue.name]?.arguments = texts(queue.arguments) }
        for policy in topology.policies(of: version) { picture.policies[policy.name] = policy.texts }
        for name in topology.countedQueues {
            picture.queues[name]?.policy = ["delivery-limit": "-1"]
            picture.queues[name]?.policyName = "push-deliveries"
        }
        return picture
    }

    private func texts(_ arguments: [Topology.Argument]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: arguments.map { ($0.name, $0.value.plainText) })
    }

    /// What is not well, of the topology, after a change of what is all well.
    private func troubles(_ change: (inout BrokerPicture) -> Void) -> [String] {
        var picture = picture(of: topology)
        change(&picture)
        return troubles(picture, topology)
    }

    private func troubles(_ picture: BrokerPicture, _ topology: Topology) -> [String] {
        TopologyComparison(topology: topology, picture: picture, advice: TopologyAdvice(virtualHost: "/"))
            .findings.filter { $0.state != .present }.map(\.text)
    }

    @Test func allIsWell() { #expect(troubles { _ in } == []) }

    @Test func whatIsMissing() {
        #expect(
            troubles { picture in
                picture.exchanges["push.dead"] = nil
                picture.queues["push.requests"] = nil
                picture.bindings.removeAll { $0.queue == "push.quarantine" }
            } == [
                "missing  exchange push.dead: run martlet topology apply",
                "missing  queue push.requests: run martlet topology apply",
                "missing  binding of push.quarantine to push.quarantine: run martlet topology apply",
            ])
    }

    @Test func whatLeadsExpiredRequestsElsewhereIsFound() {
        let former = Topology.Binding(queue: "push.dead", exchange: "push.dlx", routingKey: "")
        #expect(
            troubles { picture in
                picture.bindings.removeAll { $0.queue == "push.expired" }
                picture.bindings += [
                    former, .init(queue: "push.expired", exchange: "push.dlx.sort", routingKey: ""),
                ]
            }.map { String($0.prefix { $0 != "," }) } == [
                "missing  binding of push.expired to push.dlx.sort by x-first-death-reason=expired x-match=all-with-x: run "
                    + "martlet topology apply",
                "differs  binding of push.dead to push.dlx: it is of another configuration or version",
            ])
    }

    @Test func whatDiffersSaysHowToMigrate() {
        let troubles = troubles { picture in
            picture.exchanges["push.dlx"]?.kind = "direct"
            picture.queues["push.wait.30s.1"]?.arguments["x-message-ttl"] = "5"
            picture.queues["push.dead"]?.arguments["x-delivery-limit"] = "3"
        }
        #expect(
            troubles.map { String($0.prefix { $0 != ";" }) } == [
                "differs  exchange push.dlx: it is of kind direct instead of fanout",
                "differs  queue push.dead: x-delivery-limit is 3 instead of not set",
                "differs  queue push.wait.30s.1: x-message-ttl is 5 instead of 30000",
            ])
        #expect(troubles[1].contains("rabbitmqctl delete_queue -p '/' --if-empty 'push.dead'"))
    }

    @Test func resultsWithoutBoundsNeedAPolicyNotAnotherQueue() {
        let troubles = troubles { $0.queues["push.results"]?.arguments = ["x-queue-type": "quorum"] }
        #expect(troubles.count == 1)
        #expect(troubles[0].contains("it can grow without end; a policy sets them without deleting the queue"))
        let command = #"'push.results-bounds' '^push\.results$' '{"message-ttl":259200000,"max-length":1000000}'"#
        #expect(troubles[0].hasSuffix(command))
        let bounded = self.troubles { picture in
            picture.queues["push.results"] = .init(
                arguments: ["x-queue-type": "quorum"], policy: ["message-ttl": "5", "max-length": "6"])
        }
        #expect(bounded == [])
    }

    /// The gap of earlier versions: what one of several queues was bound by stayed.
    @Test func bindingsOfEarlierConfigurationsAreFound() {
        let several = Topology(
            names: TopologyNames(requestQueues: ["push.requests", "push.bulk"]), waits: [WaitDelay(seconds: 30)])
        var picture = picture(of: topology)
        let bulk = Topology.Binding(queue: "push.bulk", exchange: "push.requests", routingKey: "bulk")
        picture.bindings.append(bulk)
        picture.queues["push.bulk"] = picture.queues["push.requests"]
        // Somebody who listens, and whose queue is none of ours.
        picture.bindings.append(.init(queue: "audit", exchange: "push.requests", routingKey: "#"))
        picture.queues["audit"] = .init(arguments: ["x-queue-type": "quorum"])
        #expect(picture.staleBindings(of: topology) == [] && picture.foreignBindings(of: topology) == [bulk])
        var divided = picture
        let shards = Topology.Binding(
            destination: "push.bulk.shards", kind: .exchange, exchange: "push.requests", routingKey: "bulk")
        divided.bindings.append(shards)
        #expect(divided.foreignBindings(of: topology) == [bulk, shards])
        let every = Topology.Binding(queue: "push.requests", exchange: "push.requests", routingKey: "#")
        #expect(picture.staleBindings(of: several) == [every])
        // Its workers may be away just now.
        #expect(troubles(picture, topology) == [])
        func advice() -> String? {
            TopologyComparison(topology: topology, picture: picture, advice: TopologyAdvice(virtualHost: "/"))
                .findings.first { $0.subject == "binding of push.bulk to push.requests by bulk" }?.advice
        }
        #expect(advice()?.hasSuffix("--former 'push.bulk=bulk'") == true)
        picture.queues["push.bulk"]?.consumerCount = 2
        #expect(advice() == "workers of another configuration take from it")
    }

    /// Whoever applied it halfway, or has not at all, gets each request twice or nowhere.
    @Test func whatIsNotRightOfShardsIsFound() {
        let divided = Topology(names: TopologyNames(shards: ["push.requests": 2]), waits: [WaitDelay(seconds: 30)])
        var picture = picture(of: divided)
        #expect(troubles(picture, divided) == [])
        let whole = Topology.Binding(queue: "push.requests", exchange: "push.requests", routingKey: "#")
        picture.bindings.append(whole)
        #expect(picture.staleBindings(of: divided) == [whole])
        picture.bindings.removeAll { $0 == whole || $0.destination == "push.requests.1" }
        picture.exchangeTypes = ["topic"]
        #expect(
            troubles(picture, divided) == [
                TopologyFinding.missingPlugin.text,
                "missing  binding of push.requests.1 to push.requests.shards by 1: run martlet topology apply",
            ])
        // One again.
        let left = troubles(picture, topology)
        #expect(
            left.contains { $0.hasPrefix("differs  binding of exchange push.requests.shards to push.requests by #") })
        #expect(!left.contains { $0.contains("plugin") })
    }

    @Test func thePolicyThatAVersionNeeds() {
        #expect(troubles(picture(of: topology, version: BrokerVersion(4, 0)), topology) == [])
        var picture = pictureWithPolicy(of: topology)
        #expect(troubles(picture, topology) == [])
        picture.policies = [:]
        for name in topology.countedQueues { picture.queues[name]?.policy = [:] }
        picture.queues["push.requests"]?.arguments["x-delivery-limit"] = "-1"
        #expect(
            troubles(picture, topology) == [
                "missing  policy push-deliveries: without it RabbitMQ 4.0 takes what was returned too often out of "
                    + "push.quarantine, push.expired, push.dead; run martlet topology apply"
            ])
        let texts = topology.policies(of: BrokerVersion(4, 0))[0].texts
        for (key, value) in [("pattern", "x"), ("apply-to", "exchanges"), ("priority", "0"), ("delivery-limit", "5")] {
            picture.policies = ["push-deliveries": texts.merging([key: value]) { $1 }]
            let wanted = texts[key] ?? ""
            #expect(
                troubles(picture, topology) == [
                    "differs  policy push-deliveries: \(key) is \(value) instead of \(wanted); run martlet topology apply"
                ])
        }
        picture.policies = ["push-deliveries": texts.merging(["priority": "7"]) { $1 }]
        #expect(troubles(picture, topology) == [])
        // Nor does a raised priority go when something else has to be set.
        picture.policies["push-deliveries"]?["delivery-limit"] = "5"
        #expect(
            troubles(picture, topology) == [
                "differs  policy push-deliveries: delivery-limit is 5 instead of -1; run martlet topology apply"
            ])
        #expect(topology.policies(of: BrokerVersion(4, 0))[0].raised(like: ["priority": "7"]).priority == 7)
        picture.policies = [:]
        picture.seesPolicies = false
        #expect(
            troubles(picture, topology) == [
                "unseen   policy push-deliveries: policies were not seen: the user of amqp.management_url needs the tag "
                    + "policymaker"
            ])
    }

    /// A policy of others wins over the argument, and an operator policy over both.
    @Test func aDeliveryLimitOfAnotherPolicyIsFound() {
        for version in [BrokerVersion(3, 13), BrokerVersion(4, 0)] {
            var picture = picture(of: topology, version: version)
            picture.queues["push.dead"]?.policy = ["delivery-limit": "20"]
            picture.queues["push.dead"]?.policyName = "everything+mine"
            let found = troubles(picture, topology).filter { !$0.contains("policy push-deliveries") }
            #expect(found.count == 1)
            #expect(
                found.first?.hasPrefix(
                    "differs  delivery limit of queue push.dead: RabbitMQ \(version) takes a message out that was given "
                        + "back 20 times (policy everything+mine); ") == true, "\(found)")
        }
    }

    /// RabbitMQ applies one policy to a queue: another one without a limit leaves the broker's default of 20.
    @Test func aPolicyThatWinsAndSetsNoLimitLeavesTheBrokersDefault() {
        var picture = pictureWithPolicy(of: topology)
        picture.queues["push.dead"]?.policy = ["max-length": "5"]
        picture.queues["push.dead"]?.policyName = "everything"
        let fault =
            "differs  delivery limit of queue push.dead: RabbitMQ 4.0 takes a message out that was given back 20 times "
            + "(its default: policy everything sets no limit); set \"delivery-limit\": -1 in policy everything, which "
            + "RabbitMQ applies to the queue instead of push-deliveries"
        #expect(troubles(picture, topology) == [fault])
        // What is missing besides hides nothing.
        picture.policies = [:]
        #expect(troubles(picture, topology).contains(fault))
        // The argument holds where no policy sets a limit.
        picture.queues["push.dead"]?.arguments["x-delivery-limit"] = "-1"
        #expect(!troubles(picture, topology).contains { $0.contains("push.dead:") })
    }

    /// A green check would be a claim.
    @Test func disabledStatisticsLeaveLimitsUnseen() {
        var picture = pictureWithPolicy(of: topology)
        picture.showsStatistics = false
        for name in topology.countedQueues {
            picture.queues[name]?.policy = [:]
            picture.queues[name]?.isPolicySeen = false
        }
        #expect(
            troubles(picture, topology) == [
                "unseen   delivery limit of push.requests, push.quarantine, push.expired, push.dead: the management API does not show "
                    + "what policies set: its statistics are disabled (management.disable_stats); look at them: "
                    + "rabbitmqctl list_queues -p '/' name arguments effective_policy_definition"
            ])
        picture.policies = [:]
        #expect(troubles(picture, topology).first?.hasPrefix("missing  policy push-deliveries: ") == true)
    }

    /// Statistics show a limit for some seconds after the policy against it was set.
    @Test func aLimitIsLookedAtAgainOnlyWhereThePolicyMayBeNew() {
        var picture = pictureWithPolicy(of: topology)
        #expect(!picture.mayShowFormerLimits(of: topology))
        picture.queues["push.dead"]?.policy = [:]
        picture.queues["push.dead"]?.policyName = ""
        #expect(picture.mayShowFormerLimits(of: topology))
        picture.seesPolicies = false
        #expect(picture.mayShowFormerLimits(of: topology))
        picture.seesPolicies = true
        picture.policies = [:]
        #expect(!picture.mayShowFormerLimits(of: topology))
        var three = self.picture(of: topology)
        three.queues["push.dead"]?.policy = ["delivery-limit": "5"]
        #expect(!three.mayShowFormerLimits(of: topology))
    }

    /// 3.x takes the argument and discards at the first return.
    @Test func theArgumentOfLaterVersionsIsAMistakeBefore() {
        var picture = picture(of: topology)
        picture.queues["push.dead"]?.arguments["x-delivery-limit"] = "-1"
        let found = troubles(picture, topology)
        #expect(found.count == 1)
        #expect(found[0].hasPrefix("differs  queue push.dead: x-delivery-limit is -1 instead of not set; "))
        picture.version = BrokerVersion(4, 0)
        picture.queues["push.requests"]?.arguments["x-delivery-limit"] = "-1"
        picture.queues["push.quarantine"]?.arguments["x-delivery-limit"] = "-1"
        picture.queues["push.expired"]?.arguments["x-delivery-limit"] = "-1"
        #expect(troubles(picture, topology) == [])
        picture.queues["push.dead"]?.arguments["x-delivery-limit"] = "7"
        #expect(
            troubles(picture, topology).first?.hasPrefix(
                "differs  queue push.dead: x-delivery-limit is 7 instead of not set; ") == true)
    }
}
