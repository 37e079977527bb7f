import AMQP
import EventLoop
import JSON
import Registrations
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Requests to users while the store is unavailable, on virtual time.
@Suite struct StoreOutageTests {
    @Test func `Requests to users wait while the store is away, and requests to tokens continue`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        try fixture.register("bob", ["aa02", "aa03"])
        fixture.fail(FanoutHarness.unreachable)
        fixture.harness.pass(seconds: 4)
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        fixture.publish(FanoutHarness.request(2, user: "bob"), 2)
        let start = fixture.apns.now
        fixture.apns.request(5, from: 10)
        #expect(fixture.run { fixture.results.count == 5 })
        #expect(start.duration(to: fixture.apns.now) < .seconds(2))
        #expect(fixture.waits.count == 2 && fixture.harness.isReady && fixture.harness.stops == 0)
        #expect(
            fixture.waits.allSatisfy {
                $0.properties.header(MessageHeaderName.reasonCode)?.stringValue == "held-store-unreachable"
                    && $0.properties.header(MessageHeaderName.attempt)?.integerValue == 0
            })
        let breaker = try #require(fixture.harness.status()?.breakers.first)
        #expect(breaker.route == "store" && breaker.code == "store-unreachable")
        fixture.fail(nil)
        #expect(fixture.run { fixture.results.count == 8 && fixture.isIdle })
        #expect(Set(fixture.pushedTokens) == ["aa01", "aa02", "aa03", "aabb"])
        #expect(fixture.harness.status()?.breakers.isEmpty == true)
        #expect(fixture.harness.counters.registry.level(of: "martlet_registration_lookups_up") == 1)
    }

    @Test func `A lane that ended counts no store`() throws {
        let fixture = try FanoutHarness()
        fixture.harness.pass(seconds: 1)
        #expect(fixture.harness.counters.registry.level(of: "martlet_registration_lookups_up") == 1)
        fixture.harness.drain(deadlineSeconds: 1)
        #expect(fixture.run { fixture.harness.unfinished != nil })
        #expect(fixture.harness.counters.registry.level(of: "martlet_registration_lookups_up") == 0)
    }

    @Test func `A short outage delays requests in the lane`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        fixture.fail(FanoutHarness.unreachable)
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        fixture.harness.pass(seconds: 2)
        fixture.fail(nil)
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.waits.isEmpty && fixture.pushedTokens == ["aa01"])
    }

    @Test(arguments: [(StoreFault.Code.refused, "store-refused"), (.schema, "store-schema")])
    func `A fault that needs an operator opens the breaker at once`(_ code: StoreFault.Code, _ name: String) throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        fixture.fail(StoreFault(code, "Run: martlet topology apply"))
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.waits.count == 1 })
        #expect(fixture.harness.status()?.breakers.first?.code == name)
        #expect(fixture.harness.status()?.breakers.first?.sentence == "Run: martlet topology apply --config a.yaml")
        fixture.fail(nil)
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01"] && fixture.results.first?.number("attempts") == 1)
    }

    @Test func `A missing data key holds only the requests that need it`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        try fixture.register("bob", ["aa02"])
        let fault = StoreFault(MissingDataKey(id: 2))
        fixture.harness.onLoop { fixture.store.faultsOfUsers["ann"] = fault }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        fixture.publish(FanoutHarness.request(2, user: "bob"), 2)
        #expect(fixture.run { fixture.results.count == 1 && fixture.waits.count == 1 })
        let headers = fixture.waits[0].properties
        #expect(headers.header(MessageHeaderName.reasonCode)?.stringValue == "held-store-keys")
        #expect(headers.header(MessageHeaderName.attempt)?.integerValue == 0)
        #expect(fixture.harness.status()?.breakers.map(\.code) == ["store-keys"])
        #expect(fixture.harness.status()?.breakers.first?.sentence == fault.sentence)
        #expect(fixture.harness.counters.registry.level(of: "martlet_registration_lookups_up") == 1)
        fixture.harness.onLoop { fixture.store.faultsOfUsers = [:] }
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
        fixture.harness.pass(seconds: KeyFaultReport.secondsMax)
        #expect(fixture.harness.status()?.breakers.isEmpty == true)
    }

    @Test func `A request is given up after the longest hold`() throws {
        let fixture = try FanoutHarness()
        fixture.fail(FanoutHarness.unreachable)
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        for _ in 0..<13 { fixture.harness.pass(seconds: 7200) }
        let result = try #require(fixture.results.first)
        #expect(result.json.root["error"]?["class"]?.string == "held")
        #expect(result.json.root["error"]?["code"]?.string == "store-unreachable")
        #expect(fixture.deadLetters.count == 1 && result.number("attempts") == 0)
    }
}
