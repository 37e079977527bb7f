import AMQP
import APNS
import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// The status, log and metrics of a lane, on virtual time.
@Suite struct LaneStatusTests {
    @Test func theStatusReportsDeliveriesInFlight() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(30)
        try #require(fixture.harness.run { fixture.pushes.count >= 5 })
        let status = try #require(fixture.harness.status())
        #expect(status.state.isReady && status.state.reasons.isEmpty && status.breakers.isEmpty)
        #expect(
            status.queues.map(\.name) == [
                fixture.harness.names.requestQueues[0], fixture.harness.names.quarantineQueue,
                fixture.harness.names.expiredQueue,
            ])
        #expect(status.queues[0].isConsumed && status.queues[0].unsettled == LaneHarness.inFlightMax)
        #expect(status.inFlight == LaneHarness.inFlightMax)
        let pool = try #require(status.pools.first)
        #expect(pool.isConnected && pool.connections == 1 && pool.streams + pool.waiting <= LaneHarness.inFlightMax)
        #expect(pool.streams > 0)
        #expect(pool.credential == .key(id: SimulatedApps.keyID(0), team: SimulatedApps.teamID(0)))
        #expect(pool.tokenAgeSeconds != nil)
        try #require(fixture.harness.run { fixture.results == 30 })
        fixture.harness.pass(seconds: 1)
        let idle = try #require(fixture.harness.status())
        #expect(idle.inFlight == 0 && idle.queues[0].unsettled == 0 && idle.unconfirmed == 0)
        #expect(idle.pools[0].streams == 0 && idle.pools[0].waiting == 0)
    }

    @Test func theStatusReportsOpenBreakersWithTheirAge() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(1)
        try #require(fixture.harness.run { !fixture.areBreakersClosed })
        fixture.harness.pass(seconds: 90)
        let status = try #require(fixture.harness.status())
        let breaker = try #require(status.breakers.first)
        #expect(breaker.code == "InvalidProviderToken" && breaker.route.hasSuffix("key \(SimulatedApps.keyID(0))"))
        #expect(85...95 ~= breaker.secondsOpen && breaker.sentence.contains("was not revoked"))
        #expect(status.state.isReady)
    }

    // Refused connections suggest a network failure. A wrong certificate is reported without a wait.
    @Test(arguments: [
        (SimulatedNetwork.State.wrongCertificate, "certificate", 1, "check the certificate's issuer"),
        (.refused, "unreachable", 8, "check DNS and firewalls on this host"),
    ])
    func theStatusReportsWhyNoConnectionOpens(
        _ state: SimulatedNetwork.State, code: String, withinSeconds: Int, remedy: String
    ) throws {
        let fixture = try LaneAPNSHarness()
        fixture.network.set(state, to: .sandbox)
        fixture.request(1)
        let asked = fixture.now
        try #require(fixture.harness.run { !fixture.areBreakersClosed })
        #expect(fixture.now <= asked + .seconds(withinSeconds))
        let breaker = try #require(fixture.harness.status()?.breakers.first)
        #expect(breaker.code == code && breaker.sentence.contains(remedy), "\(breaker)")
        fixture.network.set(.open, to: .sandbox)
        #expect(fixture.harness.run { fixture.results == 1 })
    }

    @Test func theStatusReportsMissingQueues() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.deleteQueue(harness.names.requestQueues[0]) }
        try #require(harness.run { !harness.isReady })
        harness.pass(seconds: 10)
        let reasons = try #require(harness.status()).state.reasons
        #expect(reasons.count == 1 && reasons[0].hasSuffix("run: martlet topology apply --config a.yaml"), "\(reasons)")
        let failures = harness.counters.registry.counts(of: "martlet_amqp_failures_total").map { series in
            series.labels.map { "\($0.key)=\($0.value)" }.sorted()
        }
        #expect(failures.contains(["code=404", "part=channel", "role=consume"]), "\(failures)")
        harness.mendTopology()
        try #require(harness.run { harness.isReady })
        #expect(try #require(harness.status()).state.consumingFailure == nil)
    }

    @Test func aNewLaneReportsMissingConnections() {
        #expect(LaneState().reasons == ["not consuming yet", "not connected for publishing yet"])
    }

    @Test func anUnreachableAPNSStopsOnlyRequestQueues() {
        #expect(LaneDemand(.running, isStuck: false, isUnreachable: false) == .everything)
        #expect(LaneDemand(.running, isStuck: false, isUnreachable: true) == .quarantineAndExpired)
        #expect(LaneDemand(.running, isStuck: true, isUnreachable: false) == .nothing)
        for lifecycle in [LaneLifecycle.paused, .stopping, .leaving, .ended] {
            #expect(LaneDemand(lifecycle, isStuck: false, isUnreachable: false) == .nothing)
        }
    }

    @Test func eachRequestIsLoggedAtLevelDebug() throws {
        let captured = try CapturedLog(level: .debug)
        let fixture = try LaneAPNSHarness(log: captured.log)
        fixture.request(2)
        try #require(fixture.harness.run { fixture.results == 2 && fixture.harness.counters.inFlight.value == 0 })
        let lines = try captured.lines().map { try JSONDocument($0).root }
        let ended = lines.filter { $0["message"]?.string == "request completed" }
        #expect(ended.map { $0["message.id"]?.string } == [LaneAPNSHarness.id(0), LaneAPNSHarness.id(1)], "\(lines)")
    }

    // A producer may exchange `app` and `device_token`.
    @Test func aDeviceTokenInsteadOfAnAppIsRedacted() throws {
        let captured = try CapturedLog(level: .debug)
        let fixture = try LaneAPNSHarness(traces: true, log: captured.log)
        let token = String(repeating: "ab", count: 32)
        let request = LaneAPNSHarness.message(0, app: 0).replacing(SimulatedApps.bundleID(0), with: token)
        fixture.harness.request(request, headers: ["traceparent": .string(LaneTracingTests.parent)])
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.pass(seconds: 2)
        let lines = captured.lines()
        #expect(lines.contains { $0.contains("request completed") && $0.contains("abababab") }, "\(lines)")
        #expect(!lines.contains { $0.contains(token) }, "\(lines)")
        let app = try #require(fixture.harness.spans.first?.attributes.first { $0.key == "martlet.app" })
        #expect(app.value == .text(RedactedText.sentence(token)))
    }

    /// Each open breaker is logged once.
    @Test func openedBreakersAreLogged() throws {
        let captured = try CapturedLog()
        let fixture = try LaneAPNSHarness(log: captured.log)
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(1)
        fixture.harness.pass(seconds: 4)
        let held = try captured.lines().map { try JSONDocument($0).root }
        #expect(
            held.filter { $0["level"]?.string == "warning" }.map { $0["message"]?.string }
                == ["breaker opened, pushes held"])
        let breaker = try #require(held.first { $0["message"]?.string == "breaker opened, pushes held" })
        #expect(breaker["apns.reason"]?.string == "InvalidProviderToken")
        #expect(breaker["apns.apps"]?.string == SimulatedApps.bundleID(0))
    }

    @Test func anOutageOfAllEndpointsIsLogged() throws {
        let captured = try CapturedLog()
        let fixture = try LaneAPNSHarness(log: captured.log)
        fixture.network.set(.refused, to: .sandbox)
        fixture.request(1)
        fixture.harness.pass(seconds: 10)
        fixture.network.set(.open, to: .sandbox)
        try #require(fixture.harness.run { fixture.results == 1 })
        let lines = try captured.lines().map { try JSONDocument($0).root }
        let events = ["routes.all_held", "breaker.opened", "routes.open", "breaker.closed"]
        let seen = lines.compactMap { $0["event"]?.string }.filter { events.contains($0) }
        #expect(seen.first == "routes.all_held" && seen.sorted() == events.sorted(), "\(seen)")
        let open = try #require(lines.first { $0["event"]?.string == "routes.open" })
        #expect(open["duration_ms"]?.int ?? 0 >= 8000)
    }

    @Test func requestsAreCountedByQueueOutcomeAppAndReason() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(3)
        fixture.harness.request("{}")
        try #require(fixture.harness.run { fixture.results == 4 && fixture.harness.counters.inFlight.value == 0 })
        let metrics = fixture.harness.counters.registry
        func labels(_ name: String) -> [String] {
            metrics.counts(of: name).map { series in
                series.labels.map { "\($0.key)=\($0.value)" }.joined(separator: " ") + ": \(series.count)"
            }
        }
        let app = SimulatedApps.bundleID(0)
        #expect(labels("martlet_deliveries_total") == ["queue=push.requests redelivered=false: 4"])
        #expect(
            labels("martlet_messages_total").sorted() == [
                "outcome=accepted app=\(app): 3", "outcome=invalid app=-: 1",
            ])
        #expect(labels("martlet_apns_answers_total") == ["app=\(app) environment=sandbox status=200 reason=: 3"])
        #expect(labels("martlet_dead_total") == ["class=schema code=required: 1"])
        #expect(labels("martlet_publish_total") == ["result=confirmed: 5"])
        #expect(labels("martlet_acks_total") == ["kind=ack: 4", "kind=reject: 0", "kind=requeue: 0"])
        for stage in ["stream", "apns", "total"] {
            let reading = try #require(metrics.reading(of: "martlet_process_seconds", labels: ["stage": stage]))
            #expect(reading.count == (stage == "total" ? 4 : 3))
        }
        #expect(try #require(metrics.reading(of: "martlet_publish_confirm_seconds", labels: [:])).count == 5)
        let answer = try #require(metrics.reading(of: "martlet_process_seconds", labels: ["stage": "apns"]))
        #expect(answer.sum >= 300_000_000 && answer.sum < 400_000_000)

        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "bad", action: .answer(.refused(.badDeviceToken))))
        }
        fixture.request(1, from: 3)
        try #require(fixture.harness.run { fixture.results == 5 })
        let refused = "app=\(app) environment=sandbox status=400 reason=BadDeviceToken: 1"
        #expect(labels("martlet_apns_answers_total").contains(refused))
    }
}
