import BrokerTopology
import Delivery
import Testing

@testable import MartletCLI

@Suite struct TopologyReportTests {
    @Test func topologyAsATable() {
        #expect(
            TopologyReport.table(Topology(waits: [WaitDelay(seconds: 30)])) == """
                EXCHANGE         KIND     ARGUMENTS
                push.unrouted    fanout
                push.requests    topic
                push.results     topic    alternate-exchange=push.unrouted
                push.dead        topic
                push.dlx.rest    fanout
                push.dlx.sort    headers  alternate-exchange=push.dlx.rest
                push.dlx         fanout
                push.quarantine  fanout
                push.wait.30s.1  fanout
                push.wait.30s.2  fanout
                push.wait.30s.3  fanout

                QUEUE            ARGUMENTS
                push.requests    x-queue-type=quorum x-dead-letter-exchange=push.dlx \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish
                push.quarantine  x-queue-type=quorum x-dead-letter-exchange=push.dlx \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish x-single-active-consumer=true
                push.results     x-queue-type=quorum x-message-ttl=259200000 x-max-length=1000000
                push.expired     x-queue-type=quorum x-dead-letter-exchange=push.dlx.rest \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish
                push.dead        x-queue-type=quorum
                push.unrouted    x-queue-type=quorum x-message-ttl=259200000 x-max-length=1000000
                push.wait.30s.1  x-queue-type=quorum x-message-ttl=30000 x-dead-letter-exchange="" \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish
                push.wait.30s.2  x-queue-type=quorum x-message-ttl=33600 x-dead-letter-exchange="" \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish
                push.wait.30s.3  x-queue-type=quorum x-message-ttl=37200 x-dead-letter-exchange="" \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish

                FROM EXCHANGE    TO QUEUE                ROUTING KEY
                push.requests    push.requests           #
                push.quarantine  push.quarantine
                push.results     push.results            result.#
                push.dead        push.dead               dead.#
                push.dlx.rest    push.dead
                push.dlx.sort    push.expired            x-first-death-reason=expired x-match=all-with-x
                push.dlx         exchange push.dlx.sort
                push.unrouted    push.unrouted
                push.wait.30s.1  push.wait.30s.1
                push.wait.30s.2  push.wait.30s.2
                push.wait.30s.3  push.wait.30s.3

                """)
    }

    @Test func fleetControlAsATable() {
        let table = TopologyReport.table(Topology(waits: [], hasFleetControl: true), version: BrokerVersion(4, 0))
        for row in [
            /push\.control +topic *\n/, /push\.fleet +topic *\n/,
            /push\.pauses +x-queue-type=stream x-max-length-bytes=20000000 x-stream-max-segment-size-bytes=1000000\n/,
            /push\.control +push\.pauses +pauses\n/, /push\.control +push\.commands +command\.#\n/,
            /push\.control +push\.commands +audit\.#\n/,
        ] {
            #expect(table.contains(row))
        }
        let without = TopologyReport.table(Topology(waits: []), version: BrokerVersion(4, 0))
        for word in ["stream", "control", "fleet", "pauses"] { #expect(!without.contains(word)) }
    }

    @Test func shardedTopologyAsATable() {
        let table = TopologyReport.table(Topology(names: TopologyNames(shards: ["push.requests": 64])))
        #expect(table.contains(/push\.requests +exchange push\.requests\.shards +#/))
    }

    @Test(arguments: [nil, BrokerVersion(3, 10), BrokerVersion(3, 13), BrokerVersion(4, 0), BrokerVersion(4, 3)])
    func theTableDisablesTheDeliveryLimitForVersionsWithOne(version: BrokerVersion?) {
        let table = TopologyReport.table(Topology(), version: version)
        let isTurnedOff = version?.limitsDeliveries ?? false
        #expect(table.contains("x-delivery-limit") == isTurnedOff)
        #expect(table.contains("delivery-limit") == isTurnedOff)
    }
}
