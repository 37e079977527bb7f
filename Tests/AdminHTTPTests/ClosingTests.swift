import EventLoop
import TestKit
import Testing

@testable import AdminHTTP

@Suite struct ClosingTests {
    @Test func `A handler may close the endpoint`() async throws {
        try await onEpollLoop { loop in
            nonisolated(unsafe) var server: AdminServer?
            let opened = try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { exchange in
                exchange.answer(.echo(exchange.request))
                server?.close()
            }
            server = opened
            let client = try await RawHTTPClient.connect(to: opened.endpoint, on: loop)
            client.send("GET", "/1")
            client.send("GET", "/2")
            let rest = try await client.rest()
            #expect(rest.hasSuffix("GET 1  - ") || rest.isEmpty)
            client.close()
        }
    }

    @Test func `A request that arrives during the close is refused`() async throws {
        try await AdminServerHarness.run { _ in
        } talk: { harness in
            let client = try await harness.connect()
            client.send("GET", "/1")
            client.send("GET", "/2")
            try await harness.loop.wait { !harness.server.pending.isEmpty }
            harness.server.close()
            let rest = try await client.rest()
            #expect(rest.contains("the server is shutting down"), "\(rest)")
        }
    }

    @Test func `The port is free after a close`() async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            #expect(try await client.request("GET", "/").status == 200)
            harness.server.close()
            let again = try AdminServer(loop: harness.loop, endpoint: harness.server.endpoint) {
                $0.answer(.echo($0.request))
            }
            let next = try await RawHTTPClient.connect(to: again.endpoint, on: harness.loop)
            #expect(try await next.request("GET", "/").status == 200)
            next.close()
            again.close()
        }
    }

    @Test func `An occupied port is reported`() async throws {
        try await AdminServerHarness.run { harness in
            #expect(throws: TransportError.self) {
                try AdminServer(loop: harness.loop, endpoint: harness.server.endpoint) { _ in }
            }
        }
    }

    @Test func `The end of the loop closes the endpoint`() async throws {
        let body = try await onEpollLoop { loop in
            let server = try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { exchange in
                if exchange.request.path != ["wait"] { exchange.answer(.echo(exchange.request)) }
            }
            let (idle, waiting) = (
                try await RawHTTPClient.connect(to: server.endpoint, on: loop),
                try await RawHTTPClient.connect(to: server.endpoint, on: loop)
            )
            waiting.send("GET", "/wait")
            let answer = try await idle.request("GET", "/").body
            while server.pending.isEmpty { await loop.sleep(for: .milliseconds(1)) }
            return answer
        }
        #expect(body == "GET   - ")
    }

    @Test func `A thousand endpoints leave no descriptor open`() async throws {
        try await onEpollLoop { loop in
            for _ in 0..<1000 {
                try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { _ in }.close()
            }
        }
    }
}
