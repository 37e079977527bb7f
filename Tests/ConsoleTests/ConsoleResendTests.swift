import AMQP
import Actions
import BrokerTopology
import Crypto
import DeadLetters
import EventLoop
import JSON
import TestKit
import Testing

@testable import Configuration
@testable import Console
@testable import ControlProtocol

/// Redrives and returns of waiting requests from a console at a real broker.
@Suite(.timeLimit(.minutes(10))) struct ConsoleResendTests {
    private static let brokerStart = Task { try await PrivateBroker() }

    /// Runs a test with a console and a declared topology.
    ///
    /// - Parameter own: a broker of the test's own; nil for the broker that the tests share.
    private func run(
        _ prefix: String, _ own: PrivateBroker? = nil, queues: [String]? = nil,
        _ body: @escaping @Sendable (ConsoleHarness, PrivateBroker) async throws -> Void
    ) async throws {
        let broker = if let own { own } else { try await Self.brokerStart.value }
        try await ConsoleHarness.declare(broker.url, prefix: prefix)
        // The tests send requests faster than an operator.
        let limits = SessionTable.Limits(requestsPerSecond: 1000)
        try await ConsoleHarness.run(
            "role_max: admin", broker: broker.url, prefix: prefix, queues: queues, limits: limits
        ) { console in
            let session = try await console.logIn(.operate)
            try await console.waitForChange(session, "the connection") { $0["broker"]?["connected"]?.bool == true }
            try await body(console, broker)
        }
    }

    private static let badTopic = #"class == \"apns\" && code == \"BadTopic\""#

    private static func count(_ queue: String, _ broker: PrivateBroker) async throws -> Int {
        try await BrokerClients.withAdmin(broker.url) { try await $0.status(ofQueue: queue).messages }
    }

    private static func publish(_ messages: [OutgoingMessage], _ broker: PrivateBroker) async throws {
        let outcomes = try await BrokerClients.publish(messages, to: broker.url)
        try #require(outcomes.allSatisfy { $0 == .confirmed })
    }

    private static func ids(_ queue: String, _ broker: PrivateBroker) async throws -> [String] {
        let count = try await count(queue, broker)
        guard count > 0 else { return [] }
        return try await BrokerClients.consume(count, from: queue, at: broker.url).compactMap(\.properties.messageID)
    }

    private static let first = "0b000000-0000-4000-8000-000000000001"
    private static let second = "0b000000-0000-4000-8000-000000000002"

    @Test func `Of 30 dead letters with two causes, one group is redriven in two steps and later failures stay`()
        async throws
    {
        try await run("steps") { console, broker in
            let session = try await console.logIn(.operate)
            try await Self.publish(
                (0..<20).map { QueuedMessages.letter($0, "steps") }
                    + (20..<30).map { QueuedMessages.letter($0, "steps", code: "BadDeviceToken") }, broker)
            let all = try await console.preview(session, "redrive", #"{"where":"\#(Self.badTopic)","max":null}"#)
            let plan = try all.json
            #expect(
                plan["count"]?.int == 20 && plan["at_most"]?.bool == false && plan["invalid"]?.int == 0, "\(all.body)")
            #expect(plan["summary"]?.string == "Sends 20 dead letters of steps.dead as requests")
            #expect(plan["phrase"]?.kind == .null && plan["role"]?.string == "operate")
            let until = try #require(plan["arguments"]?["until"]?.int64)
            let command = try #require(plan["command"]?.string)
            #expect(
                command == "martlet dead-letters redrive --config martlet.yaml --where '(class == \"apns\" && code == "
                    + "\"BadTopic\") && !(failed_at > \(until))'")
            // The preview has requeued all dead letters.
            #expect(try await Self.count("steps.dead", broker) == 30)

            try await Self.publish([QueuedMessages.letter(30, "steps", failedAt: until + 60_000)], broker)
            let ten = try await console.act(
                session, "redrive", #"{"where":"\#(Self.badTopic)","max":10,"until":\#(until)}"#,
                id: Self.first)
            #expect(ten["state"]?.string == "done", "\(ten["error"]?.string ?? "")")
            #expect(ten["progress"]?["done"]?.int == 10 && ten["progress"]?["total"]?.int == 10)
            #expect(ten["ids"]?.list.compactMap(\.string) == (0..<10).map(QueuedMessages.id))
            #expect(try await Self.count("steps.requests", broker) == 10)

            let rest = try await console.act(
                session, "redrive", #"{"where":"\#(Self.badTopic)","rate_per_second":200,"until":\#(until)}"#,
                id: Self.second)
            #expect(rest["result"]?.string?.hasPrefix("redriven 10; messages read: ") == true)
            #expect(Set(try await Self.ids("steps.requests", broker)) == Set((0..<20).map(QueuedMessages.id)))
            #expect(Set(try await Self.ids("steps.dead", broker)) == Set((20...30).map(QueuedMessages.id)))
            try await console.waitForAudit(session) { records in
                let redrives = records.filter { $0["verb"]?.string == "redrive" }
                return redrives.compactMap { $0["phase"]?.string } == ["after", "before", "after", "before"]
                    && redrives.allSatisfy { $0["count"]?.int == 10 && $0["why"]?.string == "repaired" }
            }
        }
    }

    @Test func `A second operator gets 409 busy with the holder while a redrive runs, and may stop it`() async throws {
        try await run("busy") { console, broker in
            let (alice, bob) = (try await console.logIn(.operate), try await console.logIn(.operate, name: "bob"))
            try await Self.publish((0..<30).map { QueuedMessages.letter($0, "busy") }, broker)
            let arguments = #"{"where":null,"max":null,"rate_per_second":2}"#
            let ofBob = try await console.preview(bob, "redrive", arguments)
            let begun = try await console.begin(
                alice, "redrive", try await console.preview(alice, "redrive", arguments), id: Self.first)
            #expect(try begun.status == 201 && begun.json["stoppable"]?.bool == true, "\(begun.body)")
            for refused in [
                try await console.preview(bob, "redrive", arguments),
                try await console.begin(bob, "redrive", ofBob, id: Self.second),
            ] {
                #expect(refused.status == 409 && refused.code == "busy", "\(refused.body)")
                #expect(try refused.json["holder"]?["by"]?.string == "alice")
                #expect(try refused.json["holder"]?["id"]?.string == Self.first)
            }
            // A console elsewhere knows the holder from the audit.
            try await ConsoleHarness.run("role_max: admin", broker: broker.url, prefix: "busy") { other in
                let carol = try await other.logIn(.operate, name: "carol")
                try await other.waitForAudit(carol) { $0.contains { $0["verb"]?.string == "redrive" } }
                let refused = try await other.preview(carol, "redrive", arguments)
                #expect(refused.status == 409 && refused.code == "busy", "\(refused.body)")
                #expect(try refused.json["holder"]?["by"]?.string == "alice")
            }
            let viewer = try await console.logIn(.view, name: "vera")
            let denied = try await console.request("DELETE", "/api/actions/\(Self.first)", session: viewer)
            #expect(denied.status == 403)
            let stopped = try await console.request("DELETE", "/api/actions/\(Self.first)", session: bob)
            #expect(stopped.status == 200, "\(stopped.body)")
            let ended = try await console.end(alice, Self.first)
            #expect(ended["state"]?.string == "done")
            #expect(ended["result"]?.string?.hasPrefix("stopped by bob: redriven ") == true)
            let sent = try await Self.ids("busy.requests", broker)
            let kept = try await Self.ids("busy.dead", broker)
            #expect(!sent.isEmpty && !kept.isEmpty)
            #expect((sent + kept).sorted() == (0..<30).map(QueuedMessages.id).sorted())
        }
    }

    @Test func `A command that holds the lock makes the console busy without a known holder`() async throws {
        try await run("command") { console, broker in
            let session = try await console.logIn(.operate)
            try await Self.publish([QueuedMessages.letter(0, "command")], broker)
            let lock = QueueLock(of: .deadLetters, console.connector, on: console.loop, command: "tests")
            #expect(try await lock.acquire())
            let refused = try await console.preview(session, "redrive", #"{"where":null}"#)
            #expect(refused.status == 409 && refused.code == "busy", "\(refused.body)")
            #expect(try refused.json["holder"]?.kind == .null)
            #expect(try refused.json["error"]?.string == "another redrive, drop or edit is running; wait for its end")
            await lock.release()
            // A plan whose action could not begin remains valid.
            let preview = try await console.preview(session, "redrive", #"{"where":null}"#)
            let next = QueueLock(of: .deadLetters, console.connector, on: console.loop, command: "tests")
            #expect(try await next.acquire())
            #expect(try await console.begin(session, "redrive", preview, id: Self.second).code == "busy")
            await next.release()
            #expect(try await console.begin(session, "redrive", preview, id: Self.first).status == 201)
            let done = try await console.end(session, Self.first)
            #expect(done["result"]?.string == "redriven 1; messages read: 1")
        }
    }

    @Test func `A kill of all broker connections in the middle of a redrive loses no request`() async throws {
        let own = try await PrivateBroker()
        try await run("killed", own) { console, broker in
            let session = try await console.logIn(.operate)
            try await Self.publish((0..<30).map { QueuedMessages.letter($0, "killed") }, broker)
            let preview = try await console.preview(session, "redrive", #"{"where":null,"rate_per_second":1}"#)
            let begun = try await console.begin(session, "redrive", preview, id: Self.first)
            #expect(begun.status == 201, "\(begun.body)")
            while true {
                let state = try await console.request("GET", "/api/actions/\(Self.first)", session: session).json
                if state["progress"]?["done"]?.int ?? 0 >= 3 { break }
                try #require(state["state"]?.string == "running")
                await console.loop.sleep(for: .milliseconds(50))
            }
            try await broker.rabbitmqctl("close_all_connections", "tests")
            let failed = try await console.end(session, Self.first)
            #expect(failed["state"]?.string == "failed", "\(failed["result"]?.string ?? "")")
            #expect(failed["error"]?.string?.hasPrefix("redriven ") == true)
            try await console.waitForChange(session, "the connection") { $0["broker"]?["connected"]?.bool == true }
            let rest = try await console.act(session, "redrive", #"{"where":null}"#, id: Self.second)
            #expect(rest["state"]?.string == "done", "\(rest["error"]?.string ?? "")")
            let sent = try await Self.ids("killed.requests", broker)
            #expect(Set(sent) == Set((0..<30).map(QueuedMessages.id)))
            // Only requests whose confirm or removal was cut off may be sent twice.
            #expect(sent.count <= 32, "\(sent.count)")
            #expect(try await Self.count("killed.dead", broker) == 0)
            try await console.waitForAudit(session) { records in
                records.filter { $0["verb"]?.string == "redrive" && $0["phase"]?.string == "after" }.count == 2
            }
        }
        try await own.end()
    }

    @Test func `Of 300 waiting requests, the 200 of one cause return to their request queue`() async throws {
        try await run("held") { console, broker in
            let session = try await console.logIn(.operate)
            let held = (0..<200).map {
                QueuedMessages.waiting($0, "held", code: "held-Shutdown", in: $0 < 150 ? "wait.1h.1" : "wait.15m.2")
            }
            let others = (200..<300).map {
                QueuedMessages.waiting($0, "held", code: "TooManyRequests", in: "wait.1h.1")
            }
            try await Self.publish(others + held, broker)
            try await console.waitForChange(session, "the depths", at: "/api/queues") { body in
                let counts = body["queues"]?.list.filter { $0["role"]?.string == "wait" }
                    .compactMap { $0["messages"]?.int }
                return counts?.reduce(0, +) == 300
            }
            let one = try await console.preview(session, "bring_back", #"{"code":"Shutdown","max":1}"#)
            #expect(try one.json["count"]?.int == 1 && one.json["at_most"]?.bool == true, "\(one.body)")
            #expect(
                try one.json["command"]?.string
                    == "martlet waits bring-back --config martlet.yaml --where 'code in [\"Shutdown\", \"held-Shutdown\"]' "
                    + "--limit 1")
            #expect(try await console.begin(session, "bring_back", one, id: Self.first).status == 201)
            let first = try await console.end(session, Self.first)
            #expect(first["progress"]?["done"]?.int == 1, "\(first["error"]?.string ?? "")")
            let all = try await console.act(
                session, "bring_back", #"{"code":"held-Shutdown","apps":["com.example.shop","com.example.none"]}"#,
                id: Self.second)
            #expect(all["result"]?.string == "brought back 199; messages read: 299", "\(all["error"]?.string ?? "")")
            #expect(all["ids"]?.list.count == ResendRun.idsMax)
            let back = try await BrokerClients.consume(200, from: "held.requests", at: broker.url)
            #expect(Set(back.compactMap(\.properties.messageID)) == Set((0..<200).map(QueuedMessages.id)))
            #expect(try await Self.count("held.wait.1h.1", broker) == 100)
        }
    }

    @Test func `Wrong arguments, small roles and used previews are refused`() async throws {
        try await run("wrong") { console, broker in
            let session = try await console.logIn(.operate)
            for (action, arguments, code) in [
                ("redrive", #"{"where":"clas == 1"}"#, "filter"), ("redrive", #"{"where":""}"#, "invalid"),
                ("redrive", #"{"where":5}"#, "invalid"), ("redrive", #"{"max":0}"#, "invalid"),
                ("redrive", #"{"rate_per_second":1.5}"#, "invalid"), ("redrive", #"{"until":-1}"#, "invalid"),
                ("bring_back", #"{"code":""}"#, "invalid"), ("bring_back", #"{"apps":[]}"#, "invalid"),
                ("bring_back", #"{"apps":[""]}"#, "invalid"), ("bring_back", #"{"apps":["a",1]}"#, "invalid"),
                ("bring_back", #"{"apps":"com.example.shop"}"#, "invalid"),
            ] {
                let refused = try await console.preview(session, action, arguments)
                #expect(refused.status == 400 && refused.code == code, "\(arguments): \(refused.body)")
            }
            let filter = try await console.preview(session, "redrive", #"{"where":"code == \"a\" && clas == 1"}"#)
            #expect(try filter.json["offset"]?.int == 15, "\(filter.body)")
            let viewer = try await console.logIn(.view, name: "vera")
            #expect(try await console.preview(viewer, "redrive", "{}").code == "role")
            try await Self.publish([QueuedMessages.letter(0, "wrong")], broker)
            let preview = try await console.preview(session, "redrive", "{}")
            #expect(try await console.begin(session, "redrive", preview, id: Self.first).status == 201)
            #expect(try await console.end(session, Self.first)["state"]?.string == "done")
            // The same id is the same action, and another id needs a new preview.
            #expect(try await console.begin(session, "redrive", preview, id: Self.first).status == 200)
            #expect(try await console.begin(session, "redrive", preview, id: Self.second).code == "expired")
        }
    }

    @Test func `A dead letter of an unknown request queue stays, and the others are redriven`() async throws {
        try await run("split", queues: ["split.requests", "split.urgent"]) { console, broker in
            let session = try await console.logIn(.operate)
            var letters = (0..<4).map { QueuedMessages.letter($0, "split") }
            letters[1].headers.entries.removeAll { $0.name == "push-origin-queue" }
            try await Self.publish(letters, broker)
            let preview = try await console.preview(session, "redrive", "{}")
            #expect(
                try preview.json["summary"]?.string
                    == "Sends 3 dead letters of split.dead as requests; 1 cannot be sent and stay", "\(preview.body)")
            #expect(try await console.begin(session, "redrive", preview, id: Self.first).status == 201)
            let ended = try await console.end(session, Self.first)
            #expect(ended["state"]?.string == "done", "\(ended["error"]?.string ?? "")")
            #expect(try await Self.count("split.requests", broker) == 3)
            #expect(try await Self.ids("split.dead", broker) == [QueuedMessages.id(1)])
        }
    }

    @Test func `Of two operators with the same plan, one runs it`() async throws {
        try await run("once") { console, broker in
            let sessions = [try await console.logIn(.operate), try await console.logIn(.operate, name: "bob")]
            try await Self.publish((0..<20).map { QueuedMessages.letter($0, "once") }, broker)
            let arguments = #"{"where":null,"max":5,"until":\#(console.loop.now.unixMilliseconds)}"#
            let previews = [
                try await console.preview(sessions[0], "redrive", arguments),
                try await console.preview(sessions[1], "redrive", arguments),
            ]
            #expect(try previews[0].json["expect"]?.string == previews[1].json["expect"]?.string)
            async let first = console.begin(sessions[0], "redrive", previews[0], id: Self.first)
            async let second = console.begin(sessions[1], "redrive", previews[1], id: Self.second)
            let statuses = [try await first.status, try await second.status]
            #expect(statuses.sorted() == [201, 409])
            let begun = statuses[0] == 201 ? Self.first : Self.second
            #expect(try await console.end(sessions[0], begun)["state"]?.string == "done")
            #expect(try await Self.count("once.requests", broker) == 5)
        }
    }

    @Test func `More than a thousand messages need the phrase`() async throws {
        try await run("many") { console, broker in
            let session = try await console.logIn(.operate)
            try await Self.publish((0..<1001).map { QueuedMessages.letter($0, "many") }, broker)
            let preview = try await console.preview(session, "redrive", "{}")
            #expect(try preview.json["phrase"]?.string == "redrive many")
            let refused = try await console.begin(session, "redrive", preview, id: Self.first)
            #expect(refused.status == 403 && refused.code == "phrase")
            #expect(try await Self.count("many.requests", broker) == 0)
        }
    }
}
