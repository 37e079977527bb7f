import EventLoop
import TestKit
import Testing

@testable import AdminHTTP

@Suite struct PendingAnswerTests {
    /// The requests `GET /wait`, which wait for `POST /go`. The queue is used only on the loop.
    private final class PendingQueue: @unchecked Sendable {
        var waiting: [AdminExchange] = []
        var abandoned = 0

        func serve(_ exchange: AdminExchange) {
            switch exchange.request.path {
            case ["wait"]:
                waiting.append(exchange)
                exchange.onAbandoned = { self.abandoned += 1 }
            case ["go"]:
                for exchange in waiting { exchange.answer(.echo(exchange.request)) }
                exchange.answer(.echo(exchange.request))
            default: exchange.answer(.echo(exchange.request))
            }
        }
    }

    private func run(
        _ configuration: AdminConfiguration = AdminConfiguration(),
        _ talk: @escaping @Sendable (AdminServerHarness, PendingQueue) async throws -> Void
    ) async throws {
        let queue = PendingQueue()
        try await AdminServerHarness.run(configuration) { exchange in
            queue.serve(exchange)
        } talk: { harness in
            try await talk(harness, queue)
        }
        queue.waiting = []
    }

    @Test func `An answer may be deferred`() async throws {
        try await run { harness, queue in
            let (one, two, other) = (
                try await harness.connect(), try await harness.connect(), try await harness.connect()
            )
            one.send("GET", "/wait?n=1")
            two.send("GET", "/wait?n=2")
            try await harness.loop.wait { queue.waiting.count == 2 }
            #expect(try await other.request("POST", "/go").status == 200)
            #expect(try await one.response().body == "GET wait n=1 - ")
            #expect(try await two.response().body == "GET wait n=2 - ")
            #expect(try await one.request("GET", "/again").body == "GET again  - ")
            #expect(queue.abandoned == 0)
        }
    }

    @Test func `A request sent while another waits is answered after it`() async throws {
        try await run { harness, queue in
            let (client, other) = (try await harness.connect(), try await harness.connect())
            client.send("GET", "/wait")
            client.send("PUT", "/next", body: "abc")
            try await harness.loop.wait { queue.waiting.count == 1 }
            #expect(try await other.request("POST", "/go").status == 200)
            #expect(try await client.response().body == "GET wait  - ")
            #expect(try await client.response().body == "PUT next  - abc")
        }
    }

    @Test func `A second answer has no effect`() async throws {
        try await run { harness, queue in
            let client = try await harness.connect()
            client.send("GET", "/wait")
            try await harness.loop.wait { queue.waiting.count == 1 }
            queue.waiting[0].answer(.error(404, "first"))
            queue.waiting[0].answer(.error(404, "second"))
            #expect(try await client.response().body == #"{"error":"first"}"# + "\n")
        }
    }

    @Test(arguments: ["close", "reset", "half"])
    func `A disconnected client abandons its exchange`(end: String) async throws {
        try await run { harness, queue in
            let client = try await harness.connect()
            client.send("GET", "/wait")
            try await harness.loop.wait { queue.waiting.count == 1 }
            switch end {
            case "close": client.close()
            case "reset": client.reset()
            default: client.finishWriting()
            }
            try await harness.loop.wait { queue.abandoned == 1 && harness.server.connectionCount == 0 }
            #expect(harness.server.pending.isEmpty)
            queue.waiting[0].answer(.echo(queue.waiting[0].request))
            #expect(!queue.waiting[0].isPending)
        }
    }

    @Test func `A client that disconnects before the handler runs abandons its exchange`() async throws {
        try await run { harness, queue in
            for _ in 0..<20 {
                let client = try await harness.connect()
                client.send("GET", "/wait")
                client.close()
            }
            try await harness.loop.wait {
                queue.abandoned == queue.waiting.count && harness.server.connectionCount == 0
            }
        }
    }

    @Test func `Pending exchanges are bounded`() async throws {
        try await run(.with { $0.pendingMax = 2 }) { harness, queue in
            let clients = [try await harness.connect(), try await harness.connect()]
            for client in clients { client.send("GET", "/wait") }
            try await harness.loop.wait { queue.waiting.count == 2 }
            let third = try await harness.connect()
            let refusal = try await third.request("GET", "/other")
            #expect(refusal.status == 503)
            #expect(refusal.body == #"{"error":"too many requests or bytes are pending; try again later"}"# + "\n")
            clients[0].close()
            try await harness.loop.wait { queue.abandoned == 1 }
            #expect(try await third.request("GET", "/other").status == 200)
        }
    }

    @Test func `The transfer limit does not apply to a pending answer`() async throws {
        try await run(.with { $0.transferSecondsMax = 1 }) { harness, queue in
            let (client, idle) = (try await harness.connect(), try await harness.connect())
            client.send("GET", "/wait")
            try await harness.loop.wait { queue.waiting.count == 1 }
            // The server closes the idle connection at its deadline. The connection of the same age with a pending
            // answer stays open.
            #expect(try await idle.rest() == "")
            queue.waiting[0].answer(.echo(queue.waiting[0].request))
            #expect(try await client.response().status == 200)
        }
    }

    @Test func `Closing answers pending exchanges with 503`() async throws {
        try await run { harness, queue in
            let (client, idle, half) = (
                try await harness.connect(), try await harness.connect(), try await harness.connect()
            )
            client.send("GET", "/wait")
            half.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabc")
            try await harness.loop.wait { queue.waiting.count == 1 && harness.server.bytesHeld == 3 }
            harness.server.close()
            #expect(try await client.response().body == #"{"error":"the server is shutting down"}"# + "\n")
            #expect(try await idle.rest() == "")
            #expect(try await half.rest() == "")
            #expect(queue.abandoned == 1)
            #expect(harness.server.connectionCount == 0 && harness.server.bytesHeld == 0)
            await #expect(throws: (any Error).self) { try await harness.connect().request("GET", "/") }
            // A second close and a later answer have no effect.
            harness.server.close()
            queue.waiting[0].answer(.echo(queue.waiting[0].request))
        }
    }
}
