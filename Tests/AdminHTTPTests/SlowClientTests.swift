import EventLoop
import Glibc
import TestKit
import Testing

@testable import AdminHTTP

/// Tests of slow clients that send half a request. Slow clients do not delay the answers to other clients.
@Suite struct SlowClientTests {
    private static let connections = 160
    /// Duration of the test in seconds. For a longer run, set `MARTLET_SLOW_CLIENT_SECONDS=300`.
    private static let seconds = getenv("MARTLET_SLOW_CLIENT_SECONDS").flatMap { Int(String(cString: $0)) } ?? 3
    private static let half = "GET /livez HTTP/1.1\r\nHost: localhost\r\n"

    // The probes use the same address as the slow clients, with a worker's limit of connections per host, and without
    // a limit.
    @Test(arguments: [AdminConfiguration().connectionsPerHostMax, .max])
    func `No probe fails`(connectionsPerHostMax: Int) async throws {
        try await AdminServerHarness.run(.with { $0.connectionsPerHostMax = connectionsPerHostMax }) { harness in
            nonisolated(unsafe) var closed: [AdminClosing: Int] = [:]
            harness.server.onClosed = { closed[$0, default: 0] += 1 }
            var slow: [RawHTTPClient] = []
            for _ in 0..<Self.connections {
                slow.append(try await harness.connect())
                slow[slow.count - 1].send(Self.half)
            }
            let end = harness.loop.now.monotonic + .seconds(Self.seconds)
            while harness.loop.now.monotonic < end {
                for index in slow.indices where slow[index].isEnded {
                    slow[index].reset()
                    slow[index] = try await harness.connect()
                    slow[index].send(Self.half)
                }
                for path in ["/livez", "/readyz"] {
                    let probe = try await harness.connect()
                    #expect(try await probe.request("GET", path).status == 200)
                    probe.close()
                }
                await harness.loop.sleep(for: .milliseconds(100))
            }
            #expect(closed[connectionsPerHostMax == .max ? .full : .address, default: 0] > 0)
            harness.server.onClosed = nil
            try await harness.settle()
            #expect(harness.server.clients.isEmpty)
        }
    }

    @Test func `A head has a shorter time limit than a body`() async throws {
        try await AdminServerHarness.run(.with { $0.headSecondsMax = 1 }) { harness in
            nonisolated(unsafe) var closed: [AdminClosing] = []
            harness.server.onClosed = { closed.append($0) }
            let (silent, half, body, idle) = (
                try await harness.connect(), try await harness.connect(), try await harness.connect(),
                try await harness.connect()
            )
            #expect(try await idle.request("GET", "/").status == 200)
            half.send(Self.half)
            body.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na")
            #expect(try await silent.rest() == "")
            #expect(try await half.rest() == "")
            try await harness.loop.wait { closed == [.late, .late] }
            body.send("bc")
            #expect(try await body.response().status == 200)
            #expect(try await idle.request("GET", "/").status == 200)
            harness.server.onClosed = nil
        }
    }

    @Test func `One host does not displace another`() async throws {
        try await AdminServerHarness.run(.with { ($0.connectionsMax, $0.connectionsPerHostMax) = (10, 4) }) { harness in
            // This client connects before the others, from another loopback address.
            let other = try Socket(from: "127.0.0.2", to: harness.server.endpoint)
            defer { other.close() }
            try await harness.loop.wait { harness.server.clients.count == 1 }
            for _ in 0..<20 { try await harness.connect().send(Self.half) }
            try await harness.loop.wait { harness.server.clients.count == 5 && harness.server.connectionCount == 5 }
            #expect(harness.server.clients.values.count { $0.waitingSince == 1 } == 1)
        }
    }
}

/// A blocking socket that is bound before its connect.
private struct Socket {
    let descriptor: Int32

    init(from host: String, to endpoint: Endpoint) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = [(host, UInt16(0), true), (endpoint.host, endpoint.port, false)].allSatisfy { step in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = step.1.bigEndian
            inet_pton(AF_INET, step.0, &address.sin_addr)
            return withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    (step.2 ? bind : connect)(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
        try #require(isConnected)
    }

    func close() { Glibc.close(descriptor) }
}
