import Testing

@testable import BrokerTopology

/// Consequences of the properties of fixed queues.
@Suite struct FixedQueueTests {
    private let topology = Topology(
        waits: [WaitDelay(seconds: 30)], hasChannelCommands: true, hasRegistrations: true, hasFleetControl: true,
        hasJournal: true)

    @Test func optionalQueuesExistOnlyByConfiguration() {
        #expect(topology.fixedQueues == FixedQueue.allCases)
        let least = Topology(results: ResultsRetention(hasQueue: false))
        #expect(least.fixedQueues == [.quarantine, .expired, .dead, .unrouted])
        let optional = [
            "push.results", "push.channels", "push.registrations", "push.pauses", "push.commands", "push.journal",
        ]
        #expect(!least.queues.contains { optional.contains($0.name) })
    }

    // A request queue with the name of a fixed queue would be declared twice, with different arguments.
    @Test func theirNamesAreReservedWhetherTheyExistOrNot() {
        let names = Topology().names
        for queue in FixedQueue.allCases { #expect(names.isReserved("push.\(queue.rawValue)")) }
        #expect(names.isReserved("push.wait.7s.1"))
        for name in ["push.requests", "push.requests.0", "orders", "dead", "pushing.dead", "push.deadly"] {
            #expect(!names.isReserved(name), "\(name)")
        }
    }

    @Test func workersConsumeRequestsAndCommandsAndReadStreams() {
        let queues = ["push.requests", "push.quarantine", "push.expired"]
        #expect(topology.queuesOfRequests == queues)
        #expect(
            WorkerPermissions(topology).readQueues
                == queues + ["push.channels", "push.registrations", "push.pauses", "push.commands"])
        #expect(topology.queuesOfCommands == ["push.channels", "push.registrations"])
        #expect(Topology().queuesOfCommands == [])
        #expect(WorkerPermissions(Topology()).readQueues == queues)
        #expect(WorkerPermissions(topology).writtenExchanges.last == "")
        #expect(!WorkerPermissions(Topology()).writtenExchanges.contains(""))
    }

    // The pattern of a policy ends with the optional queues, so an optional queue only extends the end of the
    // pattern.
    @Test func deliveriesOfAllButResultsAndStreamsAreUnlimited() {
        let always = ["push.requests", "push.quarantine", "push.expired", "push.dead"]
        #expect(Topology().unlimitedQueues == always)
        #expect(topology.unlimitedQueues == always + ["push.channels", "push.registrations"])
        #expect(
            topology.queues.filter { topology.isBounded($0.name) }.map(\.name) == ["push.results", "push.unrouted"])
    }

    @Test func aWorkerStartsWithoutTheQueuesThatAreNotRequired() {
        let missing = Set(topology.queues.map(\.name)).subtracting(topology.requiredQueues)
        #expect(missing == ["push.results", "push.expired", "push.pauses", "push.commands", "push.journal"])
    }
}
