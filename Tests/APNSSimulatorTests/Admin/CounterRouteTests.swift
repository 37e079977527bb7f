import EventLoop
import JSON
import TestKit
import Testing

@testable import APNSSimulator

@Suite struct CounterRouteTests {
    @Test func `Health reports ok`() async throws {
        try await AdminSimulator.run { simulator in
            try await simulator.expect("GET", "/health", is: #"{"status":"ok","version":"0.1.0"}"#)
        }
    }

    @Test func `Counters are available as JSON`() async throws {
        try await AdminSimulator.run { simulator in
            let client = try await simulator.connectProvider()
            _ = try await simulator.push(client)
            _ = try await simulator.push(client, to: "xyz")
            let counters = try await simulator.json("/v1/counters").root
            #expect(counters["requests"]?.int == 2)
            #expect(counters["accepted"]?.int == 1)
            #expect(counters["refused_by_reason"]?["BadDeviceToken"]?.int == 1)
            #expect(counters["connections_open"]?.int == 1)
        }
    }

    @Test func `Counters are available for Prometheus`() async throws {
        try await AdminSimulator.run { simulator in
            let client = try await simulator.connectProvider()
            let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
            _ = try await simulator.push(client, id: id)
            _ = try await simulator.push(client, id: id)
            _ = try await simulator.push(client, to: "xyz")
            let response = try await simulator.request("GET", "/metrics")
            #expect(response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let lines = response.body.split(separator: "\n")
            for line in [
                "# HELP apns_simulator_requests_total Complete requests.",
                "# TYPE apns_simulator_requests_total counter",
                #"apns_simulator_requests_total{environment="sandbox",service="push"} 3"#,
                #"apns_simulator_requests_total{environment="production",service="channel-management"} 0"#,
                "apns_simulator_duplicates_total 1",
                "apns_simulator_answers_accepted_total 2",
                #"apns_simulator_answers_refused_total{status="400"} 1"#,
                #"apns_simulator_refusals_total{reason="BadDeviceToken"} 1"#,
                "# TYPE apns_simulator_connections_open gauge",
                "apns_simulator_connections_open 1",
                "apns_simulator_requests_in_flight 0",
            ] {
                #expect(lines.contains { $0 == line }, "\(line)")
            }
            // Each family has one TYPE line. The text ends with a line feed.
            #expect(lines.filter { $0.hasPrefix("# TYPE") }.count == Set(lines.filter { $0.hasPrefix("# TYPE") }).count)
            #expect(response.body.hasSuffix("\n"))
        }
    }
}
