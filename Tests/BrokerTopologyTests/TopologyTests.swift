import Testing

@testable import BrokerTopology

@Suite struct TopologyTests {
    let topology = Topology(waits: [WaitDelay(seconds: 30)])

    @Test func namesConsistOfThePrefixAndTheContents() {
        #expect(
            topology.exchanges.map { "\($0.name) \($0.kind)" } == [
                "push.unrouted fanout", "push.requests topic", "push.results topic", "push.dead topic",
                "push.dlx.rest fanout", "push.dlx.sort headers", "push.dlx fanout", "push.quarantine fanout",
                "push.wait.30s.1 fanout", "push.wait.30s.2 fanout",
                "push.wait.30s.3 fanout",
            ])
        #expect(
            topology.queues.map(\.name) == [
                "push.requests", "push.quarantine", "push.results", "push.expired", "push.dead", "push.unrouted",
                "push.wait.30s.1",
                "push.wait.30s.2", "push.wait.30s.3",
            ])
        let other = Topology(names: TopologyNames(prefix: "shop.push", requestQueues: ["orders"]))
        #expect(other.exchanges.allSatisfy { $0.name.hasPrefix("shop.push.") })
        #expect(other.queues.map(\.name).first == "orders")
        #expect(other.bindings.first?.exchange == "shop.push.requests")
    }

    @Test func everyQueueIsAQuorumQueueAndIsBound() throws {
        for queue in topology.queues {
            #expect(queue.arguments.contains { $0.name == "x-queue-type" && $0.value == .text("quorum") })
            #expect(topology.bindings.contains { $0.queue == queue.name })
        }
        for binding in topology.bindings {
            let exchange = try #require(topology.exchanges.first { $0.name == binding.exchange })
            #expect(binding.routingKey.isEmpty == [.fanout, .headers].contains(exchange.kind))
            #expect(binding.arguments.isEmpty == (exchange.kind != .headers))
        }
    }

    @Test func everyExchangeLeadsToAQueue() {
        for exchange in topology.exchanges {
            #expect(topology.bindings.contains { $0.exchange == exchange.name }, "\(exchange.name)")
        }
    }

    // With a separate exchange, producers of requests need no permission to publish registrations. A client that may
    // register devices can redirect notifications.
    @Test func registrationsHaveAnExchangeOfTheirOwnOnlyIfConfigured() throws {
        #expect(!topology.hasRegistrations)
        #expect(!topology.exchanges.contains { $0.name == "push.registrations" })
        let topology = Topology(waits: [], hasRegistrations: true)
        #expect(topology.hasRegistrations)
        let exchange = try #require(topology.exchanges.first { $0.name == "push.registrations" })
        #expect(exchange.kind == .topic && exchange.arguments == [])
        #expect(
            topology.bindings.filter { $0.queue == "push.registrations" || $0.exchange == "push.registrations" }
                == [Topology.Binding(queue: "push.registrations", exchange: "push.registrations", routingKey: "#")])
        #expect(
            topology.queues.first { $0.name == "push.registrations" }?.arguments.map { "\($0.name)=\($0.value)" } == [
                #"x-queue-type=text("quorum")"#, #"x-dead-letter-exchange=text("push.dlx")"#,
                #"x-dead-letter-strategy=text("at-least-once")"#, #"x-overflow=text("reject-publish")"#,
            ])
        #expect(topology.formerBindings == Topology(waits: []).formerBindings)
    }

    @Test func fleetControlHasItsObjectsOnlyIfConfigured() {
        #expect(!topology.hasFleetControl)
        let fleet = Topology(waits: [WaitDelay(seconds: 30)], hasFleetControl: true)
        #expect(fleet.hasFleetControl)
        #expect(
            fleet.exchanges.filter { !topology.exchanges.contains($0) }.map { "\($0.name) \($0.kind) \($0.arguments)" }
                == ["push.control topic []", "push.fleet topic []"])
        #expect(fleet.exchanges.filter(topology.exchanges.contains) == topology.exchanges)
        #expect(
            fleet.queues.filter { !topology.queues.contains($0) }.map { "\($0.name) \($0.arguments.text)" } == [
                "push.pauses x-queue-type=stream x-max-length-bytes=20000000 "
                    + "x-stream-max-segment-size-bytes=1000000",
                "push.commands x-queue-type=stream x-max-length-bytes=256000000 "
                    + "x-stream-max-segment-size-bytes=16000000 x-max-age=90D",
            ])
        #expect(fleet.queues.filter(topology.queues.contains) == topology.queues)
        #expect(
            fleet.bindings.filter { !topology.bindings.contains($0) }.map(\.text) == [
                "push.pauses to push.control by pauses", "push.commands to push.control by command.#",
                "push.commands to push.control by audit.#",
            ])
        #expect(fleet.bindings.filter(topology.bindings.contains) == topology.bindings)
        #expect(fleet.formerBindings == topology.formerBindings)
        #expect(fleet.names == topology.names && fleet.names.lockPrefix == "push.lock.")
    }

    @Test func theJournalHasItsStreamOnlyIfConfigured() {
        let (fleet, journal) = (Topology(hasFleetControl: true), Topology(hasFleetControl: true, hasJournal: true))
        #expect(!fleet.hasJournal && journal.hasJournal && journal.exchanges == fleet.exchanges)
        #expect(
            journal.queues.filter { !fleet.queues.contains($0) }.map { "\($0.name) \($0.arguments.text)" } == [
                "push.journal x-queue-type=stream x-max-length-bytes=10000000000 "
                    + "x-stream-max-segment-size-bytes=100000000 x-max-age=72h"
            ])
        #expect(
            journal.bindings.filter { !fleet.bindings.contains($0) }.map(\.text)
                == ["push.journal to push.fleet by journal.#"])
        #expect(journal.queues.filter(\.isStream).count == 3 && journal.unlimitedQueues == fleet.unlimitedQueues)
    }

    // RabbitMQ refuses a stream with a delivery limit, and no policy for queues may match a stream.
    @Test func streamsHaveNoDeliveryLimit() throws {
        let fleet = Topology(hasFleetControl: true)
        #expect(fleet.queues.filter(\.isStream).map(\.name) == ["push.pauses", "push.commands"])
        #expect(!topology.queues.contains { $0.isStream })
        let version = BrokerVersion(4, 0)
        #expect(fleet.queues(at: version).filter(\.isStream) == fleet.queues.filter(\.isStream))
        #expect(fleet.policies(of: version) == Topology().policies(of: version))
        #expect(fleet.unlimitedQueues == Topology().unlimitedQueues)
    }

    // A result without a bound queue must not delay the acknowledgment of its request.
    @Test func resultsWithoutAQueueAreUnrouted() throws {
        let results = try #require(topology.exchanges.first { $0.name == "push.results" })
        #expect(
            results.arguments.map { "\($0.name)=\($0.value)" } == [#"alternate-exchange=text("push.unrouted")"#])
    }

    @Test func queuesOfResultsAreBounded() {
        let retention = ResultsRetention(ageSecondsMax: 60, lengthMax: 7)
        let topology = Topology(results: retention)
        for name in ["push.results", "push.unrouted"] {
            #expect(
                topology.queues.first { $0.name == name }?.arguments.map { "\($0.name)=\($0.value)" } == [
                    #"x-queue-type=text("quorum")"#, "x-message-ttl=integer(60000)", "x-max-length=integer(7)",
                ])
        }
        #expect(topology.queues.count { queue in queue.arguments.contains { $0.name == "x-max-length" } } == 2)
    }

    @Test func theResultQueueIsOptional() {
        let topology = Topology(results: ResultsRetention(hasQueue: false))
        #expect(!topology.queues.contains { $0.name == "push.results" })
        #expect(!topology.bindings.contains { $0.queue == "push.results" })
        #expect(
            topology.formerBindings == [
                Topology.Binding(queue: "push.results", exchange: "push.results", routingKey: "result.#"),
                Self.formerDeadLetters,
            ])
        #expect(topology.exchanges == Topology().exchanges)
    }

    /// A binding of earlier versions. Through this binding, each expired request became a dead letter.
    private static let formerDeadLetters = Topology.Binding(queue: "push.dead", exchange: "push.dlx", routingKey: "")

    // The old binding exists until the new bindings are complete.
    @Test func expiredMessagesReachWorkersAndOthersTheDeadLetters() {
        let bindings = topology.bindings.filter { $0.exchange.hasPrefix("push.dlx") }
        #expect(
            bindings.map { "\($0.destination) \($0.exchange)" } == [
                "push.dead push.dlx.rest", "push.expired push.dlx.sort", "push.dlx.sort push.dlx",
            ])
        #expect(
            bindings[1].arguments.map { "\($0.name)=\($0.value)" } == [
                #"x-first-death-reason=text("expired")"#, #"x-match=text("all-with-x")"#,
            ])
        #expect(topology.formerBindings == [Self.formerDeadLetters])
    }

    @Test func onlyBrokersWithADeliveryLimitGetAPolicy() throws {
        let topology = Topology(names: TopologyNames(requestQueues: ["orders+", "push.bulk"]))
        #expect(topology.policies(of: BrokerVersion(3, 10)) == [])
        #expect(topology.policies(of: BrokerVersion(3, 13)) == [])
        for version in [BrokerVersion(4, 0), BrokerVersion(4, 3)] {
            let policy = try #require(topology.policies(of: version).first)
            #expect(policy.name == "push-deliveries")
            #expect(policy.pattern == #"^(orders\+|push\.bulk|push\.quarantine|push\.expired|push\.dead)$"#)
            #expect(policy.definition.map { "\($0.name)=\($0.value)" } == ["delivery-limit=integer(-1)"])
        }
    }

    // With `x-delivery-limit: -1`, RabbitMQ before 4.0 discards a message at its first requeue.
    @Test func newQueuesHaveNoDeliveryLimitWhereTheVersionHasOne() {
        let topology = Topology(names: TopologyNames(shards: ["push.requests": 2]), hasChannelCommands: true)
        for version in [nil, BrokerVersion(3, 10), BrokerVersion(3, 13)] {
            #expect(topology.queues(at: version) == topology.queues)
        }
        let queues = topology.queues(at: BrokerVersion(4, 0))
        #expect(
            queues.filter(\.hasNoDeliveryLimit).map(\.name) == [
                "push.requests", "push.requests.0", "push.requests.1", "push.quarantine", "push.channels",
                "push.expired", "push.dead",
            ])
        #expect(queues.map(\.withBrokersDeliveryLimit) == topology.queues)
        #expect(
            queues.first { $0.name == "push.dead" }?.arguments.map { "\($0.name)=\($0.value)" } == [
                #"x-queue-type=text("quorum")"#, "x-delivery-limit=integer(-1)",
            ])
    }

    // Workers, not the broker, report a command that is requeued repeatedly.
    @Test(arguments: [(true, false, ["channels"]), (false, true, ["registrations"])])
    func theDeliveryLimitOfCommandsIsTurnedOff(
        hasChannelCommands: Bool, hasRegistrations: Bool, queues: [String]
    ) throws {
        let topology = Topology(hasChannelCommands: hasChannelCommands, hasRegistrations: hasRegistrations)
        #expect(
            Set(topology.unlimitedQueues).subtracting(Topology().unlimitedQueues) == Set(queues.map { "push.\($0)" }))
        let pattern = try #require(topology.policies(of: BrokerVersion(4, 0)).first).pattern
        for queue in queues { #expect(pattern.contains(#"|push\.\#(queue))$"#)) }
    }

    @Test(arguments: [
        ("3.10.8", "3.10"), ("4.0", "4.0"), ("4.3.0-rc.1", "4.3"), ("3.8.0+1", "3.8"), ("4", nil), ("", nil),
        ("a.b", nil), ("-1.0", nil), ("3.x", nil), (".4.0", nil), ("4..1", nil),
    ])
    func versionsOfBrokers(text: String, version: String?) {
        #expect(BrokerVersion(text)?.description == version)
    }

    @Test func aSingleRequestQueueReceivesEveryRequest() {
        let topology = Topology(names: TopologyNames(requestQueues: ["orders"]), routingKeys: ["orders": "order"])
        #expect(keys(of: topology) == ["orders #"])
    }

    @Test func severalRequestQueuesHaveAKeyEach() {
        let names = TopologyNames(requestQueues: ["push.requests.urgent", "push.requests.bulk", "mail"])
        let topology = Topology(names: names, routingKeys: ["push.requests.bulk": "campaign.#"])
        #expect(keys(of: topology) == ["push.requests.urgent urgent", "push.requests.bulk campaign.#", "mail mail"])
    }

    // With a binding for all keys, a request would reach the old queue and a new queue.
    @Test func severalRequestQueuesAreBoundOnlyByTheirKeys() {
        func former(_ topology: Topology) -> [Topology.Binding] {
            topology.formerBindings.filter { $0.exchange == "push.requests" }
        }
        #expect(former(topology) == [])
        let several = Topology(names: TopologyNames(requestQueues: ["push.requests", "push.requests.bulk"]))
        #expect(former(several).map(\.queue) == ["push.requests", "push.requests.bulk"])
        #expect(former(several).allSatisfy { $0.routingKey == "#" })
        let others = Topology(
            names: TopologyNames(requestQueues: ["push.requests.urgent", "rest"]), routingKeys: ["rest": "#"])
        #expect(former(others).map(\.queue) == ["push.requests", "push.requests.urgent"])
    }

    private func keys(of topology: Topology) -> [String] {
        topology.bindings.filter { $0.exchange == topology.names.requestsExchange }
            .map { "\($0.destination) \($0.routingKey)" }
    }

    // A broker that has the queue would refuse a declaration with other arguments.
    @Test func waitQueuesReturnMessagesAndKeepTheirArguments() throws {
        let topology = Topology(waits: [WaitDelay(seconds: 7200)])
        let waiting = topology.queues.filter { $0.name.contains(".wait.") }
        #expect(
            waiting.map(\.name) == ["push.wait.2h.1", "push.wait.2h.2", "push.wait.2h.3"])
        let milliseconds = [7_200_000, 8_064_000, 8_928_000]
        for (queue, milliseconds) in zip(waiting, milliseconds) {
            #expect(
                queue.arguments.map { "\($0.name)=\($0.value)" } == [
                    #"x-queue-type=text("quorum")"#, "x-message-ttl=integer(\(milliseconds))",
                    #"x-dead-letter-exchange=text("")"#, #"x-dead-letter-strategy=text("at-least-once")"#,
                    #"x-overflow=text("reject-publish")"#,
                ])
        }
    }

    @Test func theQuarantineHasOneConsumerAtATime() throws {
        let quarantine = try #require(topology.queues.first { $0.name == "push.quarantine" })
        #expect(
            quarantine.arguments.contains { $0.name == "x-single-active-consumer" && $0.value == .boolean(true) })
        let requests = try #require(topology.queues.first { $0.name == "push.requests" })
        #expect(quarantine.arguments.starts(with: requests.arguments))
    }

    @Test(arguments: [
        (1, "1s"), (30, "30s"), (60, "1m"), (90, "90s"), (600, "10m"), (3600, "1h"), (0, "1s"), (90_000, "24h"),
    ])
    func aWaitIsNamedAfterItsDelay(seconds: Int, label: String) {
        #expect(WaitDelay(seconds: seconds).label == label)
    }

    @Test(arguments: [("4.0", 4, 0), ("3.10.8", 3, 10), ("0.1", 0, 1), ("4.3.0-rc.1", 4, 3)])
    func aReleaseIsReadFromItsFirstTwoNumbers(text: String, major: Int, minor: Int) {
        #expect(BrokerVersion(text) == BrokerVersion(major, minor))
    }

    @Test(arguments: ["", "4", "4.", "x.1", "-1.0", "4.-1"]) func invalidReleasesAreRejected(text: String) {
        #expect(BrokerVersion(text) == nil)
    }

    @Test func waitsAscendFromSecondsToAnHour() {
        #expect(WaitDelay.defaults.map(\.label) == ["5s", "30s", "2m", "10m", "15m", "1h"])
        #expect(WaitDelay.defaults == WaitDelay.defaults.sorted())
    }
}
