import EventLoop
import TestKit
import Testing

@testable import AdminHTTP

@Suite struct PendingAnswerTests {
    /// `GET /wait` waits for `POST /go`; used on the loop only.
    private final class Desk: @unchecked Sendable {
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
        _ talk: @escaping @Sendable (AdminServerHarness, Desk) async throws -> Void
    ) async throws {
        let desk = Desk()
        try await AdminServerHarness.run(configuration) { exchange in
            desk.serve(exchange)
        } talk: { harness in
            try await talk(harness, desk)
        }
        desk.waiting = []
    }

    @Test func `An answer may come later`() async throws {
        try await run { harness, desk in
            let (one, two, other) = (
                try await harness.connect(), try await harness.connect(), try await harness.connect()
            )
            one.send("GET", "/wait?n=1")
            two.send("GET", "/wait?n=2")
            try await harness.loop.wait { desk.waiting.count == 2 }
            #expect(try await other.request("POST", "/go").status == 200)
            #expect(try await one.response().body == "GET wait n=1 - ")
            #expect(try await two.response().body == "GET wait n=2 - ")
            #expect(try await one.request("GET", "/again").body == "GET again  - ")
            #expect(desk.abandoned == 0)
        }
    }

    @Test func `What a client sends while it waits comes after`() async throws {
        try await run { harness, desk in
            let (client, other) = (try await harness.connect(), try await harness.connect())
            client.send("GET", "/wait")
            client.send("PUT", "/next", body: "abc")
            try await harness.loop.wait { desk.waiting.count == 1 }
            #expect(try await other.request("POST", "/go").status == 200)
            #expect(try await client.response().body == "GET wait  - ")
            #expect(try await client.response().body == "PUT next  - abc")
        }
    }

    @Test func `A second answer is none`() async throws {
        try await run { harness, desk in
            let client = try await harness.connect()
            client.send("GET", "/wait")
            try await harness.loop.wait { desk.waiting.count == 1 }
            desk.waiting[0].answer(.error(404, "first"))
            desk.waiting[0].answer(.error(404, "second"))
            #expect(try await client.response().body == #"{"error":"first"}"# + "\n")
        }
    }

    @Test(arguments: ["close", "reset", "half"])
    func `A client that goes away is not waited for`(end: String) async throws {
        try await run { harness, desk in
            let client = try await harness.connect()
            client.send("GET", "/wait")
            try await harness.loop.wait { desk.waiting.count == 1 }
            switch end {
            case "close": client.close()
            case "reset": client.reset()
            default: client.finishWriting()
            }
            try await harness.loop.wait { desk.abandoned == 1 && harness.server.connectionCount == 0 }
            #expect(harness.server.pending.isEmpty)
            desk.waiting[0].answer(.echo(desk.waiting[0].request))
            #expect(!desk.waiting[0].isPending)
        }
    }

    @Test func `A client that goes away before it was looked at`() async throws {
        try await run { harness, desk in
            for _ in 0..<20 {
                let client = try await harness.connect()
                client.send("GET", "/wait")
                client.close()
            }
            try await harness.loop.wait { desk.abandoned == desk.waiting.count && harness.server.connectionCount == 0 }
        }
    }

    @Test func `Not more may wait than agreed`() async throws {
        try await run(.with { $0.pendingMax = 2 }) { harness, desk in
            let clients = [try await harness.connect(), try await harness.connect()]
            for client in clients { client.send("GET", "/wait") }
            try await harness.loop.wait { desk.waiting.count == 2 }
            let third = try await harness.connect()
            let refusal = try await third.request("GET", "/other")
            #expect(refusal.status == 503)
            #expect(refusal.body == #"{"error":"too many requests are pending; try again later"}"# + "\n")
            clients[0].close()
            try await harness.loop.wait { desk.abandoned == 1 }
            #expect(try await third.request("GET", "/other").status == 200)
        }
    }

    @Test func `Waiting is not limited by the time for transfers`() async throws {
        try await run(.with { $0.transferSecondsMax = 1 }) { harness, desk in
            let (client, idle) = (try await harness.connect(), try await harness.connect())
            client.send("GET", "/wait")
            try await harness.loop.wait { desk.waiting.count == 1 }
            // This one, which came with it, has had its time.
            #expect(try await idle.rest() == "")
            desk.waiting[0].answer(.echo(desk.waiting[0].request))
            #expect(try await client.response().status == 200)
        }
    }

    @Test func `The end is told to those who wait`() async throws {
        try await run { harness, desk in
            let (client, idle, half) = (
                try await harness.connect(), try await harness.connect(), try await harness.connect()
            )
            client.send("GET", "/wait")
            half.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabc")
            try await harness.loop.wait { desk.waiting.count == 1 && harness.server.bytesHeld == 3 }
            harness.server.close()
            #expect(try await client.response().body == #"{"error":"the server is shutting down"}"# + "\n")
            #expect(try await idle.rest() == "")
            #expect(try await half.rest() == "")
            #expect(desk.abandoned == 1)
            #expect(harness.server.connectionCount == 0 && harness.server.bytesHeld == 0)
            await #expect(throws: (any Error).self) { try await harness.connect().request("GET", "/") }
            // Once more does nothing; nor does an answer.
            harness.server.close()
            desk.waiting[0].answer(.echo(desk.waiting[0].request))
        }
    }
}
