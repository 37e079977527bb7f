import EventLoop
import JSON
import TestKit
import Testing

@testable import APNSSimulator

@Suite struct ClockRouteTests {
    @Test func `Setting the clock ahead makes tokens too old`() async throws {
        try await AdminSimulator.run { simulator in
            let before = simulator.loop.now.unixMilliseconds
            let clock = try await simulator.json("/v1/clock").root
            #expect(clock["offset_seconds"]?.double == 0)
            let reported = try #require(clock["unix_ms"]?.int64)
            #expect((before...simulator.loop.now.unixMilliseconds).contains(reported))
            let client = try await simulator.connectProvider()
            #expect(try await simulator.push(client).status == 200)

            let set = try await simulator.request("PUT", "/v1/clock", #"{"offset_seconds": 3700.5}"#)
            #expect(set.status == 200 && set.body.hasPrefix(#"{"offset_seconds":3700.5,"unix_ms":"#))
            #expect(try await simulator.push(client).body == #"{"reason":"ExpiredProviderToken"}"#)

            _ = try await simulator.request("PUT", "/v1/clock", #"{"offset_seconds": -90000}"#)
            #expect(simulator.server.clockOffset == .seconds(-90_000))
            _ = try await simulator.request("PUT", "/v1/clock", #"{"offset_seconds": 0}"#)
            #expect(try await simulator.push(client).status == 200)
        }
    }

    @Test(arguments: [
        ("", "the body is not JSON: 1:1: "),
        ("{", "the body is not JSON: 1:2: "),
        ("[]", "the clock must be an object"),
        ("{}", "offset_seconds is missing in the clock"),
        (#"{"offset": 1}"#, "unknown member 'offset' in the clock; known: offset_seconds"),
        (#"{"offset_seconds": "1"}"#, "offset_seconds must be a number from"),
        (#"{"offset_seconds": 1e300}"#, "offset_seconds must be a number from"),
        ("{\n  \"offset_seconds\": 1e300}", "2:21: offset_seconds must be a number from"),
    ])
    func `Invalid clock offsets are refused with the error`(body: String, sentence: String) async throws {
        try await AdminSimulator.run { simulator in
            let response = try await simulator.request("PUT", "/v1/clock", body)
            #expect(response.status == 400)
            #expect(response.body.hasPrefix(#"{"error":"\#(sentence)"#), "\(response.body)")
            #expect(simulator.server.clockOffset == .zero)
        }
    }
}
