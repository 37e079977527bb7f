import EventLoop
import TestKit
import Testing

@testable import AdminHTTP

/// Tests of hostile clients. After each test, the server answers another client, and then holds no connection, no bytes
/// and no pending exchange.
@Suite struct HostileClientTests {
    private func run(
        _ configuration: AdminConfiguration = AdminConfiguration(),
        _ talk: @escaping @Sendable (AdminServerHarness) async throws -> Void
    ) async throws {
        // `/wait` is never answered.
        try await AdminServerHarness.run(configuration) { exchange in
            switch exchange.request.path {
            case ["wait"]: break
            case ["large"]: exchange.answer(Self.large)
            default: exchange.answer(.echo(exchange.request))
            }
        } talk: { harness in
            try await talk(harness)
            let next = try await harness.connect()
            #expect(try await next.request("GET", "/next").body == "GET next  - ")
            next.close()
            try await harness.settle()
            #expect(harness.server.connectionCount == 0)
            #expect(harness.server.bytesHeld == 0)
            #expect(harness.server.pending.isEmpty)
        }
    }

    /// The limits of connections, for all clients and per host.
    private static let limitsOfThree: [any WritableKeyPath<AdminConfiguration, Int> & Sendable] = [
        \.connectionsMax, \.connectionsPerHostMax,
    ]

    private static let large = AdminResponse.json(Array(repeating: UInt8(ascii: "x"), count: 32 * 1024 * 1024))

    @Test func `Unbounded headers are refused`() async throws {
        try await run { harness in
            let client = try await harness.connect()
            client.send("GET / HTTP/1.1\r\nHost: localhost\r\n")
            for number in 0..<1000 { client.send("X-\(number): \(String(repeating: "x", count: 1000))\r\n") }
            #expect(try await client.rest().hasPrefix("HTTP/1.1 431 "))
        }
    }

    @Test func `An unbounded path is refused`() async throws {
        try await run { harness in
            let client = try await harness.connect()
            client.send("GET /" + String(repeating: "x", count: 1_000_000))
            #expect(try await client.rest().hasPrefix("HTTP/1.1 414 "))
        }
    }

    @Test(arguments: [
        "\r\n\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}",
        "GET / HTTP/1.1\r\nHost localhost\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/1.1\r\n x: y\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx",
        "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET /\0evil HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.1\r\nHost: localhost\0.evil\r\n\r\n",
    ])
    func `Bytes that are not a request end the connection`(text: String) async throws {
        try await run(.with { $0.transferSecondsMax = 1 }) { harness in
            let client = try await harness.connect()
            client.send(text)
            client.finishWriting()
            _ = try await client.rest()
            #expect(client.isEnded)
        }
    }

    // A proxy in front of the server may use the other length, and read the rest of the body as another request.
    @Test(arguments: [
        "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", "Content-Length: 4\r\nContent-Length: 0\r\n\r\nabcd",
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    ])
    func `A request with two lengths is refused and the connection closed`(rest: String) async throws {
        try await run { harness in
            let client = try await harness.connect()
            client.send("POST / HTTP/1.1\r\nHost: localhost\r\n\(rest)")
            client.send("GET", "/smuggled")
            let answer = try await client.rest()
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(!answer.contains("smuggled"))
        }
    }

    @Test func `A client may disconnect after every prefix of a request`() async throws {
        let request =
            "PUT /a?b=c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        try await run { harness in
            for count in 0..<request.utf8.count {
                let client = try await harness.connect()
                client.send(Array(request.utf8.prefix(count)))
                if count % 2 == 0 { client.reset() } else { client.close() }
            }
        }
    }

    @Test func `A client that sends single bytes slowly is disconnected`() async throws {
        try await run(.with { $0.transferSecondsMax = 1 }) { harness in
            let client = try await harness.connect()
            func trickle() {
                guard !client.isEnded else { return }
                client.send("x")
                harness.loop.schedule(after: .milliseconds(50), trickle)
            }
            client.send("GET /")
            trickle()
            #expect(try await client.rest() == "")
        }
    }

    @Test func `A silent client is disconnected`() async throws {
        try await run(.with { $0.transferSecondsMax = 1 }) { harness in
            let silent = try await harness.connect()
            let idle = try await harness.connect()
            #expect(try await idle.request("GET", "/").status == 200)
            #expect(try await silent.rest() == "")
            #expect(try await idle.rest() == "")
        }
    }

    @Test func `A client that does not read its answer is disconnected`() async throws {
        try await run(.with { $0.transferSecondsMax = 1 }) { harness in
            let client = try await harness.connect()
            client.pauseReading()
            client.send("GET", "/large")
            let other = try await harness.connect()
            #expect(try await other.request("GET", "/").status == 200)
            // The client continues to read only after the server has closed its connection.
            try await harness.loop.wait { harness.server.bytesHeld == 0 && harness.server.connectionCount == 0 }
            client.resumeReading()
            #expect(try await client.rest().utf8.count < Self.large.body.count)
        }
    }

    @Test(arguments: [true, false])
    func `A body that is too large is read, discarded and refused`(isChunked: Bool) async throws {
        try await run { harness in
            let client = try await harness.connect()
            let body = String(repeating: "x", count: 1024 * 1024 + 1)
            if isChunked {
                client.send("PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
                client.send("\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
            } else {
                client.send("PUT", "/", body: body)
            }
            let response = try await client.response()
            #expect(response.status == 413)
            #expect(response.body == #"{"error":"the body is larger than 1048576 bytes"}"# + "\n")
            #expect(try await client.request("GET", "/again").status == 200)
        }
    }

    @Test func `Bodies beyond the memory limit are refused`() async throws {
        try await run(.with { $0.bytesHeldMax = 3000 }) { harness in
            let first = try await harness.connect()
            first.send(
                "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n"
                    + String(repeating: "x", count: 1999))
            try await harness.loop.wait { harness.server.bytesHeld == 1999 }
            let second = try await harness.connect()
            let response = try await second.request("PUT", "/", body: String(repeating: "y", count: 1500))
            #expect(response.status == 503)
            first.reset()
        }
    }

    @Test func `Connections beyond the limit displace the oldest silent ones`() async throws {
        try await run(.with { $0.connectionsMax = 10 }) { harness in
            var clients: [RawHTTPClient] = []
            for _ in 0..<10 { clients.append(try await harness.connect()) }
            // A client that waits for an answer is displaced last.
            clients[0].send("GET", "/wait")
            try await harness.loop.wait { harness.server.pending.count == 1 }
            for _ in 0..<5 { #expect(try await harness.connect().request("GET", "/").status == 200) }
            for client in clients[1...5] { #expect(try await client.rest() == "") }
            for client in clients[6...] { #expect(try await client.request("GET", "/").status == 200) }
            #expect(harness.server.pending.count == 1 && !clients[0].isEnded)
            #expect(harness.server.connectionCount == 10)
            try await harness.settle()
        }
    }

    @Test(arguments: limitsOfThree)
    func `A connection beyond the limit displaces a pending one`(
        _ limit: any WritableKeyPath<AdminConfiguration, Int> & Sendable
    ) async throws {
        try await run(.with { $0[keyPath: limit] = 3 }) { harness in
            var clients: [RawHTTPClient] = []
            for count in 1...3 {
                clients.append(try await harness.connect())
                clients[count - 1].send("GET", "/wait")
                try await harness.loop.wait { harness.server.pending.count == count }
            }
            #expect(try await harness.connect().request("GET", "/").status == 200)
            #expect(try await clients[0].rest() == "")
            #expect(harness.server.pending.count == 2)
            try await harness.settle()
        }
    }

    // A client that does not read its answer may be displaced, like a client that has sent no request.
    @Test(arguments: limitsOfThree)
    func `Clients that do not read their answers are displaced`(
        _ limit: any WritableKeyPath<AdminConfiguration, Int> & Sendable
    ) async throws {
        let configuration = AdminConfiguration.with {
            $0[keyPath: limit] = 3
            $0.bytesHeldMax = .max
        }
        try await run(configuration) { harness in
            for count in 1...3 {
                let reader = try await harness.connect()
                reader.pauseReading()
                reader.send("GET", "/large")
                try await harness.loop.wait { harness.server.bytesHeld == count * Self.large.body.count }
            }
            let slow = try await harness.connect()
            #expect(try await harness.connect().request("GET", "/").status == 200)
            #expect(try await slow.request("GET", "/").status == 200)
            try await harness.loop.wait { harness.server.connectionCount == 3 }
            try await harness.settle()
        }
    }

    @Test func `Pipelined requests with unread answers do not block other clients`() async throws {
        try await run { harness in
            let client = try await harness.connect()
            client.pauseReading()
            for number in 0..<1000 { client.send("PUT", "/\(number)", body: String(repeating: "x", count: 10_000)) }
            let other = try await harness.connect()
            #expect(try await other.request("GET", "/").status == 200)
            client.reset()
        }
    }

    @Test func `The loop sleeps while clients are silent`() async throws {
        try await run { harness in
            for beginning in [
                "", "GET", "GET / HTTP/1.1\r\nHost: localhost\r\n", "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\nGET",
            ] {
                try await harness.connect().send(beginning)
            }
            try await harness.loop.wait { harness.server.pending.count == 1 }
            let before = harness.loop.iterations.value
            await harness.loop.sleep(for: .milliseconds(100))
            #expect(harness.loop.iterations.value - before < 20)
        }
    }
}
