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

/// What operators are told of a lane; on virtual time.
@Suite struct LaneStatusTests {
    @Test func itSaysWhatIsOnItsWay() throws {
        let scene = try LaneAPNSHarness()
        scene.request(30)
        try #require(scene.harness.run { scene.pushes.count >= 5 })
        let status = try #require(scene.harness.status())
        #expect(status.state.isReady && status.state.reasons.isEmpty && status.breakers.isEmpty)
        #expect(
            status.queues.map(\.name) == [
                scene.harness.names.requestQueues[0], scene.harness.names.quarantineQueue,
                scene.harness.names.expiredQueue,
            ])
        #expect(status.queues[0].isConsumed && status.queues[0].unsettled == LaneHarness.inFlightMax)
        #expect(status.inFlight == LaneHarness.inFlightMax)
        let pool = try #require(status.pools.first)
        #expect(pool.isConnected && pool.connections == 1 && pool.streams + pool.waiting <= LaneHarness.inFlightMax)
        #expect(pool.streams > 0)
        #expect(pool.credential == .key(id: SimulatedApps.keyID(0), team: SimulatedApps.teamID(0)))
        #expect(pool.tokenAgeSeconds != nil)
        try #require(scene.harness.run { scene.results == 30 })
        scene.harness.pass(seconds: 1)
        let idle = try #require(scene.harness.status())
        #expect(idle.inFlight == 0 && idle.queues[0].unsettled == 0 && idle.unconfirmed == 0)
        #expect(idle.pools[0].streams == 0 && idle.pools[0].waiting == 0)
    }

    @Test func itSaysWhatIsHeldUpAndSinceWhen() throws {
        let scene = try LaneAPNSHarness()
        scene.harness.onLoop { scene.revoke(0) }
        scene.request(1)
        try #require(scene.harness.run { !scene.areBreakersClosed })
        scene.harness.pass(seconds: 90)
        let status = try #require(scene.harness.status())
        let breaker = try #require(status.breakers.first)
        #expect(breaker.code == "InvalidProviderToken" && breaker.route.hasSuffix("key \(SimulatedApps.keyID(0))"))
        #expect(85...95 ~= breaker.secondsOpen && breaker.sentence.contains("it was not revoked"))
        #expect(status.state.isReady)
    }

    /// No answer ever came, so only the way there can be at fault; a certificate is no matter of waiting.
    @Test(arguments: [
        (SimulatedNetwork.Way.wrongCertificate, "certificate", 1, "check its issuer"),
        (.refused, "unreachable", 8, "check DNS and firewalls on this host"),
    ])
    func itSaysWhyNoConnectionOpens(
        _ way: SimulatedNetwork.Way, code: String, withinSeconds: Int, remedy: String
    ) throws {
        let scene = try LaneAPNSHarness()
        scene.network.set(way, to: .sandbox)
        scene.request(1)
        let asked = scene.now
        try #require(scene.harness.run { !scene.areBreakersClosed })
        #expect(scene.now <= asked + .seconds(withinSeconds))
        let breaker = try #require(scene.harness.status()?.breakers.first)
        #expect(breaker.code == code && breaker.sentence.contains(remedy), "\(breaker)")
        scene.network.set(.open, to: .sandbox)
        #expect(scene.harness.run { scene.results == 1 })
    }

    @Test func itSaysWhatTheBrokerLacks() throws {
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

    @Test func beforeItBeginsItSaysWhatItLacks() {
        #expect(LaneState().reasons == ["not consuming yet", "not connected for publishing yet"])
    }

    @Test func wantsTheQuarantineAlsoWithoutAPNS() {
        #expect(LaneDemand(.running, isStuck: false, isUnreachable: false) == .everything)
        #expect(LaneDemand(.running, isStuck: false, isUnreachable: true) == .quarantineAndExpired)
        #expect(LaneDemand(.running, isStuck: true, isUnreachable: false) == .nothing)
        for lifecycle in [LaneLifecycle.paused, .stopping, .leaving, .ended] {
            #expect(LaneDemand(lifecycle, isStuck: false, isUnreachable: false) == .nothing)
        }
    }

    @Test func eachMessageIsALineForWhoeverAskedForThatMuch() throws {
        let captured = try CapturedLog(level: .debug)
        let scene = try LaneAPNSHarness(log: captured.log)
        scene.request(2)
        try #require(scene.harness.run { scene.results == 2 && scene.harness.counters.inFlight.value == 0 })
        let lines = try captured.lines().map { try JSONDocument($0).root }
        let ended = lines.filter { $0["message"]?.string == "a message has ended" }
        #expect(ended.map { $0["message.id"]?.string } == [LaneAPNSHarness.id(0), LaneAPNSHarness.id(1)], "\(lines)")
    }

    /// What is held up is said once for each route.
    @Test func itLogsWhatItHoldsUp() throws {
        let captured = try CapturedLog()
        let scene = try LaneAPNSHarness(log: captured.log)
        scene.harness.onLoop { scene.revoke(0) }
        scene.request(1)
        scene.harness.pass(seconds: 4)
        let held = try captured.lines().map { try JSONDocument($0).root }
        #expect(
            held.filter { $0["level"]?.string == "warning" }.map { $0["message"]?.string } == ["pushes are held up"])
        let breaker = try #require(held.first { $0["message"]?.string == "pushes are held up" })
        #expect(breaker["apns.reason"]?.string == "InvalidProviderToken")
        #expect(breaker["apns.apps"]?.string == SimulatedApps.bundleID(0))
    }

    @Test func itLogsThatNoEndpointAcceptsConnections() throws {
        let captured = try CapturedLog()
        let scene = try LaneAPNSHarness(log: captured.log)
        scene.network.set(.refused, to: .sandbox)
        scene.request(1)
        scene.harness.pass(seconds: 10)
        scene.network.set(.open, to: .sandbox)
        try #require(scene.harness.run { scene.results == 1 })
        let lines = try captured.lines().map { try JSONDocument($0).root }
        let events = ["routes.all_held", "breaker.opened", "routes.open", "breaker.closed"]
        let seen = lines.compactMap { $0["event"]?.string }.filter { events.contains($0) }
        #expect(seen.first == "routes.all_held" && seen.sorted() == events.sorted(), "\(seen)")
        let open = try #require(lines.first { $0["event"]?.string == "routes.open" })
        #expect(open["duration_ms"]?.int ?? 0 >= 8000)
    }

    /// What the metrics say of messages, by labels of our own.
    @Test func itCountsByQueueOutcomeAppAndReason() throws {
        let scene = try LaneAPNSHarness()
        scene.request(3)
        scene.harness.request("{}")
        try #require(scene.harness.run { scene.results == 4 && scene.harness.counters.inFlight.value == 0 })
        let metrics = scene.harness.counters.registry
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

        try scene.harness.onLoop {
            try scene.apns.faults.put(Fault(id: "bad", action: .answer(.refused(.badDeviceToken))))
        }
        scene.request(1, from: 3)
        try #require(scene.harness.run { scene.results == 5 })
        let refused = "app=\(app) environment=sandbox status=400 reason=BadDeviceToken: 1"
        #expect(labels("martlet_apns_answers_total").contains(refused))
    }
}
