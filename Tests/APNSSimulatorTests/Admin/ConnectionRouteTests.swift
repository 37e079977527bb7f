import EventLoop
import HTTP2
import JSON
import TestKit
import Testing

@testable import APNSSimulator

@Suite struct ConnectionRouteTests {
    @Test func `Open connections have their keys and counts`() async throws {
        try await AdminSimulator.run { _, state in
            state.rules.gate = .announce
            state.rules.streamsMax = 500
        } _: { simulator in
            try await simulator.expect("GET", "/v1/connections", is: #"{"connections":[],"failures":[]}"#)
            let (first, second) = (try await simulator.connectProvider(), try await simulator.connectProvider())
            _ = try await simulator.push(first, to: "xyz")
            _ = try await simulator.push(first)
            let list = try await simulator.json("/v1/connections").root["connections"]
            let connections = try #require(list).elements.map { $0 }
            #expect(connections.map { $0["number"]?.int } == [1, 2])
            #expect(connections.map { $0["environment"]?.string } == ["sandbox", "sandbox"])
            #expect(connections.map { $0["service"]?.string } == ["push", "push"])
            #expect(connections.map { $0["team_id"]?.string } == ["TEAM000001", nil])
            #expect(connections.map { $0["key_id"]?.string } == ["KEY0000001", nil])
            #expect(connections.map { $0["streams_open"]?.int } == [0, 0])
            #expect(connections.map { $0["streams_max"]?.int } == [500, 1])
            #expect(connections.map { $0["requests"]?.int } == [2, 0])
            #expect(connections.map { $0["errors"]?.int } == [1, 0])
            let since = try #require(connections[0]["since_unix_ms"]?.int64)
            #expect((0..<60_000).contains(simulator.server.now.unixMilliseconds - since))

            second.session.abort()
            try await simulator.loop.wait { simulator.server.counters.connectionsOpen == 1 }
            let left = try await simulator.json("/v1/connections").root["connections"]
            #expect(left?.elements.map { $0["number"]?.int } == [1])
        }
    }
}
