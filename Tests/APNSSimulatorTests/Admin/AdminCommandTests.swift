import EventLoop
import JSON
import TestKit
import Testing

/// The admin port of the command.
@Suite struct AdminCommandTests {
    @Test func `The ready line tells the admin port, which answers to the names that it was given`() async throws {
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
}
