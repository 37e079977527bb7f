import AdminHTTP
import EventLoop
import JSON
import TestKit
import Testing

/// Tests of the command's admin port.
@Suite struct AdminCommandTests {
    @Test func `The ready line contains the admin port, which accepts its configured host names`() async throws {
        let simulator = try await ChildProcess([
            try Products.executable("apns-simulator"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
            "--admin-host", "simulator.test",
        ])
        let line = try await simulator.output.line { $0.contains(#""event":"ready""#) }
        let port = try #require(try JSONDocument(line).root["admin_port"]?.int.flatMap(UInt16.init(exactly:)))
        try await onEpollLoop { loop in
            let client = try await RawHTTPClient.connect(to: Endpoint(host: "127.0.0.1", port: port), on: loop)
            #expect(try await client.request("GET", "/health").status == 200)
            for (host, status) in [("simulator.test:\(port)", 200), ("other.test:\(port)", 403)] {
                client.send("GET /health HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                #expect(try await client.response().status == status)
            }
            client.close()
        }
        #expect(try await simulator.terminate().status == .exited(0))
    }

    @Test func `Connections closed to make room are counted and reported`() async throws {
        let simulator = try await ChildProcess([
            try Products.executable("apns-simulator"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
        ])
        let line = try await simulator.output.line { $0.contains(#""event":"ready""#) }
        let port = try #require(try JSONDocument(line).root["admin_port"]?.int.flatMap(UInt16.init(exactly:)))
        try await onEpollLoop { loop in
            func connect() async throws -> RawHTTPClient {
                try await RawHTTPClient.connect(to: Endpoint(host: "127.0.0.1", port: port), on: loop)
            }
            var slow: [RawHTTPClient] = []
            for _ in 0..<AdminConfiguration().connectionsPerHostMax { slow.append(try await connect()) }
            let client = try await connect()
            #expect(try await slow[0].rest() == "")
            let counters = try JSONDocument(try await client.request("GET", "/v1/counters").body).root
            #expect(counters["admin_connections_closed"]?["address"]?.int == 1)
            let metrics = try await client.request("GET", "/metrics").body.split(separator: "\n")
            for line in [
                #"apns_simulator_admin_connections_closed_total{cause="address"} 1"#,
                #"apns_simulator_admin_connections_closed_total{cause="full"} 0"#,
            ] { #expect(metrics.contains { $0 == line }, "\(line)") }
            for client in slow + [client] { client.close() }
        }
        _ = try await simulator.errors.line {
            $0 == "apns-simulator: admin connections closed to make room: 1"
        }
        #expect(try await simulator.terminate().status == .exited(0))
    }
}
