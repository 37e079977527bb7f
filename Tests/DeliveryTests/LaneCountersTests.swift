import AMQP
import BrokerTopology
import EventLoop
import Telemetry
import Testing

@testable import Delivery

@Suite struct LaneCountersTests {
    // The dashboard uses each of these names, and alerts use some of them.
    @Test func metricsKeepTheirNames() {
        let metrics = MetricsRegistry()
        _ = LaneCounters(metrics)
        let types = metrics.render().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.dropFirst(7) }
        #expect(
            Set(types) == [
                "martlet_acks_total counter", "martlet_duplicates_total counter", "martlet_held_total counter",
                "martlet_inflight gauge", "martlet_message_age_seconds histogram", "martlet_process_seconds histogram",
                "martlet_publish_confirm_seconds histogram", "martlet_publish_repeats_total counter",
                "martlet_quarantined_total counter", "martlet_unknown_outcomes_total counter",
            ])
    }

    // The counters include the counts of lanes that have ended.
    @Test func connectsAndResendsAreCountedAsTheyHappen() throws {
        let fixture = try LaneAPNSHarness(lanes: 2)
        func counts(_ name: String) -> [[String]] {
            fixture.harness.counters.registry.counts(of: "martlet_apns_\(name)_total").map {
                ["\($0.count)"] + $0.labels.map { "\($0.key) \($0.value)" }
            }
        }
        let labels = ["environment sandbox", "key_id \(SimulatedApps.keyID(0))"]
        #expect(counts("connects") == [["0"] + labels] && counts("resent") == [["0"] + labels])
        for number in 0..<4 {
            fixture.request(1, from: number)
            fixture.harness.pass(seconds: 1)
        }
        #expect(counts("connects") == [["2"] + labels])
        fixture.harness.drain(0, deadlineSeconds: 30)
        try #require(fixture.harness.run { fixture.harness.ended == 1 })
        fixture.end(.goAway)
        fixture.request(1, from: 4)
        #expect(fixture.harness.run { fixture.results == 5 })
        #expect(counts("connects") == [["3"] + labels])
    }

    @Test func everyOutcomeOfAPublishHasALabel() {
        let metrics = MetricsRegistry()
        let labels = LaneMetrics(LaneConfigurationTests.configuration(), LaneCounters(metrics))
        let outcomes: [PublishOutcome] = [
            .confirmed, .returned(code: 312, text: "NO_ROUTE"), .nacked, .unknown(.lost), .notSent(.lost),
            .refused(.bodyTooLarge),
        ]
        for outcome in outcomes { labels.published(outcome, since: Self.time, Self.time) }
        #expect(
            values(of: "martlet_publish_total", in: metrics) == [
                ["result": "confirmed"], ["result": "returned"], ["result": "nacked"], ["result": "unknown"],
                ["result": "not_sent"], ["result": "refused"],
            ])
    }

    @Test func deliveriesAreCountedByQueueAndRedelivery() {
        let metrics = MetricsRegistry()
        let configuration = LaneConfigurationTests.configuration()
        let labels = LaneMetrics(configuration, LaneCounters(metrics))
        for source in 0..<4 {
            for isRedelivered in [false, true] { labels.delivered(from: source, isRedelivered: isRedelivered) }
        }
        let expected = ["urgent", "bulk", configuration.names.quarantineQueue, configuration.names.expiredQueue].flatMap
        { queue in
            ["false", "true"].map { ["queue": queue, "redelivered": $0] }
        }
        #expect(values(of: "martlet_deliveries_total", in: metrics) == Set(expected))
    }

    // Without a reply code of the broker, the label is the error's own code.
    @Test func aFailureOfTheBrokerHasItsCode() {
        let metrics = MetricsRegistry()
        let labels = LaneMetrics(LaneConfigurationTests.configuration(), LaneCounters(metrics))
        for error in [.lost, AMQPError(.notFound, "no queue", replyCode: 404)] {
            labels.brokerStatusChanged(.waiting(error, delay: .seconds(1)), .publish, isConnection: true)
        }
        #expect(
            values(of: "martlet_amqp_failures_total", in: metrics) == [
                ["role": "publish", "part": "connection", "code": "connection-lost"],
                ["role": "publish", "part": "connection", "code": "404"],
            ])
    }

    private static let time = MonotonicTime(nanoseconds: 0)

    /// Returns the labels of each series. Expects each series to have the count 1.
    private func values(of name: String, in metrics: MetricsRegistry) -> Set<[String: String]> {
        let series = metrics.counts(of: name)
        #expect(series.allSatisfy { $0.count == 1 })
        return Set(series.map { Dictionary(uniqueKeysWithValues: $0.labels.map { ($0.key, $0.value) }) })
    }
}

extension AMQPError {
    fileprivate static let lost = AMQPError(.connectionLost, "lost")
}
