import AMQP
import Actions
import BrokerTopology
import Crypto
import Delivery
import EventLoop
import JSON
import TestKit
import Testing

@testable import Configuration
@testable import Console
@testable import ControlProtocol

/// A console at a real broker, with a simulated worker.
@Suite(.timeLimit(.minutes(5))) struct ConsoleBrokerTests {
    private static let brokerStart = Task { try await PrivateBroker() }

    /// Runs a test with a console and a worker that has reported.
    private func run(
        _ prefix: String, _ section: String = "role_max: admin",
        _ body: @escaping @Sendable (ConsoleHarness, String) async throws -> Void
    ) async throws {
        let broker = try await Self.brokerStart.value
        try await ConsoleHarness.declare(broker.url, prefix: prefix)
        // The tests send requests faster than an operator.
        let limits = SessionTable.Limits(requestsPerSecond: 1000)
        try await ConsoleHarness.run(section, broker: broker.url, prefix: prefix, limits: limits) { console in
            let worker = SimulatedWorker(console)
            let session = try await console.logIn(.admin)
            try await console.waitForChange(session, "a report") { fleet in
                fleet["workers"]?.list.contains { $0["pauses_revision"]?.int == 0 } == true
                    && fleet["pauses"]?["revision"]?.int == 0
            }
            try await body(console, session)
            await worker.close()
        }
    }

    private static let id = "0a000000-0000-4000-8000-00000000000"

    /// Returns the body of an action with the member `expect` of its preview.
    private static func body(
        _ console: ConsoleHarness, _ session: String, _ action: String, _ arguments: String, id: String,
        phrase: String? = nil
    ) async throws -> String {
        let preview = try await console.request(
            "POST", "/api/actions?preview=1", session: session,
            body: #"{"action":"\#(action)","arguments":\#(arguments),"why":"wrong campaign"}"#)
        #expect(preview.status == 200, "\(preview.body)")
        let expect = try #require(try preview.json["expect"]?.string)
        let words = phrase.map { #","phrase":"\#($0)""# } ?? ""
        return #"""
            {"id":"\#(id)","action":"\#(action)","arguments":\#(arguments),"why":"wrong campaign",
             "expect":"\#(expect)"\#(words)}
            """#
    }

    /// Begins an action and waits for its end. Returns the last answer.
    private static func act(
        _ console: ConsoleHarness, _ session: String, _ action: String, _ arguments: String, id: String,
        phrase: String? = nil
    ) async throws -> JSONValue {
        let body = try await body(console, session, action, arguments, id: id, phrase: phrase)
        let begun = try await console.request("POST", "/api/actions", session: session, body: body)
        #expect(begun.status == 201, "\(begun.body)")
        return try await end(console, session, id)
    }

    private static func end(_ console: ConsoleHarness, _ session: String, _ id: String) async throws -> JSONValue {
        while true {
            let answer = try await console.request("GET", "/api/actions/\(id)", session: session)
            if try answer.json["state"]?.string != "running" { return try answer.json }
            await console.loop.sleep(for: .milliseconds(100))
        }
    }

    @Test func `A pause is in force at the worker and in the audit, and a repeat is the same action`() async throws {
        try await run("pauses") { console, session in
            let arguments = #"{"scope":"topic com.example.shop","until_seconds":7200}"#
            let id = Self.id + "1"
            let body = try await Self.body(console, session, "pause", arguments, id: id)
            let (first, second) = (try await console.client(), try await console.client())
            for client in [first, second] {
                client.send(
                    "POST", "/api/actions", headers: ["Authorization": "Bearer \(session)"], body: body)
            }
            let statuses = [try await first.response().status, try await second.response().status]
            #expect(statuses.sorted() == [200, 201])
            let ended = try await Self.end(console, session, id)
            #expect(ended["state"]?.string == "done")
            #expect(ended["result"]?.string == "revision 1: in force at 1 of 1 workers")
            try await console.waitForChange(session, "the pause") { fleet in
                fleet["pauses"]?["list"]?.list.first?["why"]?.string == "wrong campaign"
                    && fleet["workers"]?.list.first?["pauses_revision"]?.int == 1
            }
            // The same id with other content, and by another operator.
            let other = body.replacing("com.example.shop", with: "com.example.other")
            let taken = try await console.request("POST", "/api/actions", session: session, body: other)
            #expect(taken.status == 409 && taken.code == "id_taken")
            let bob = try await console.logIn(.admin, name: "bob")
            #expect(try await console.request("POST", "/api/actions", session: bob, body: body).status == 409)
            let again = try await console.request("POST", "/api/actions", session: session, body: body)
            #expect(try again.status == 200 && again.json["state"]?.string == "done")

            let resumed = try await Self.act(
                console, session, "resume", #"{"scope":"topic com.example.shop"}"#, id: Self.id + "2")
            #expect(resumed["result"]?.string == "revision 2: in force at 1 of 1 workers")
            let shown =
                "martlet pause --fleet --config martlet.yaml --topic com.example.shop --reason 'wrong campaign' "
                + "--until 2h"
            try await console.waitForAudit(session) { records in
                let pauses = records.filter { $0["verb"]?.string == "pause" }
                let command = pauses.first?["command"]?.string
                return pauses.compactMap { $0["phase"]?.string } == ["after", "before"]
                    && pauses.allSatisfy { $0["by"]?.string == "alice" && $0["why"]?.string == "wrong campaign" }
                    && command == shown
                    && records.filter { $0["verb"]?.string == "resume" }.count == 2
                    && records.contains { $0["verb"]?.string == "login" }
            }
        }
    }

    @Test func `A pause of everything needs its phrase and the unchanged state`() async throws {
        try await run("phrases") { console, session in
            let arguments = #"{"scope":"everything","until_seconds":null}"#
            for phrase in [nil, "", "pause", "pause push", "PAUSE phrases"] {
                let body = try await Self.body(
                    console, session, "pause", arguments, id: Self.id + "1", phrase: phrase)
                let refused = try await console.request("POST", "/api/actions", session: session, body: body)
                #expect(refused.status == 403 && refused.code == "phrase", "\(refused.body)")
            }
            let stale = try await Self.body(
                console, session, "pause", arguments, id: Self.id + "2", phrase: "pause phrases")
            let paused = try await Self.act(console, session, "pause", #"{"scope":"key K"}"#, id: Self.id + "3")
            #expect(paused["state"]?.string == "done")
            // The next preview depends on the new revision, also if the console's reader is slow.
            let fleet = try await console.request("GET", "/api/fleet", session: session)
            #expect(try fleet.json["pauses"]?["revision"]?.int == 1)
            let moved = try await console.request("POST", "/api/actions", session: session, body: stale)
            #expect(moved.status == 409 && moved.code == "moved")
            let done = try await Self.act(
                console, session, "pause", arguments, id: Self.id + "4", phrase: "pause phrases")
            #expect(done["result"]?.string == "revision 2: in force at 1 of 1 workers")
            let twice = try await Self.act(
                console, session, "resume", #"{"scope":"key OTHER"}"#, id: Self.id + "5")
            #expect(twice["result"]?.string == "unchanged: the fleet has no pause of key OTHER")
            try await console.waitForAudit(session) { records in
                records.filter { $0["result"]?.string == "pause: wrong phrase" }.count == 5
            }
        }
    }

    @Test func `A probe closes the breakers that the plan counts and is in the audit`() async throws {
        try await run("probes") { console, session in
            let worker = SimulatedWorker(console, bootID: 2)
            worker.breakers = [
                .init(
                    route: "h key K", code: "InvalidProviderToken", sentence: "APNs refuses the key.", secondsOpen: 6,
                    apps: ["com.example.shop"])
            ]
            try await console.waitForChange(session, "the cause", at: "/api/causes") { body in
                let cause = body["causes"]?.list.first
                return cause?["scope"]?.string == "key K" && cause?["workers"]?.int == 1
                    && cause?["apps"]?.list.map(\.string) == ["com.example.shop"]
                    && body["totals"]?["workers_reporting"]?.int == 2 && body["totals"]?["workers_silent"]?.int == 0
            }
            let preview = try await console.request(
                "POST", "/api/actions?preview=1", session: session,
                body: #"{"action":"probe","arguments":{"scope":"key K"},"why":"wrong campaign"}"#)
            #expect(try preview.json["count"]?.int == 1)
            #expect(try preview.json["summary"]?.string == "Probes 1 open breaker of the key K in 1 of 2 workers")
            #expect(
                try preview.json["command"]?.string
                    == "martlet probe --config martlet.yaml --key K --why 'wrong campaign'")
            let done = try await Self.act(console, session, "probe", #"{"scope":"key K"}"#, id: Self.id + "1")
            #expect(
                done["result"]?.string == "probed 1 breaker in 2 workers; no breaker of the scope is open",
                "\(done["error"]?.string ?? "")")
            #expect(worker.probes == ["key K"] && worker.breakers.isEmpty)
            try await console.waitForAudit(session) { records in
                records.filter { $0["verb"]?.string == "probe" && $0["count"]?.int == 1 }.count == 2
            }
            await worker.close()
        }
    }

    @Test func `A probe does not delay a pause, and names the breakers that stay open`() async throws {
        try await run("slow") { console, session in
            let worker = SimulatedWorker(console, bootID: 2)
            worker.repairs = false
            worker.breakers = [.init(route: "h", code: "unreachable", sentence: "No answer.", secondsOpen: 6)]
            try await console.waitForChange(session, "the cause", at: "/api/causes") { body in
                body["causes"]?.list.first?["scope"]?.string == "endpoint h"
            }
            let arguments = #"{"scope":"endpoint h"}"#
            let body = try await Self.body(console, session, "probe", arguments, id: Self.id + "1")
            let begun = try await console.request("POST", "/api/actions", session: session, body: body)
            #expect(begun.status == 201, "\(begun.body)")
            let paused = try await Self.act(console, session, "pause", #"{"scope":"key K"}"#, id: Self.id + "2")
            #expect(paused["state"]?.string == "done")
            let probe = try await console.request("GET", "/api/actions/\(Self.id)1", session: session)
            #expect(try probe.json["state"]?.string == "running")
            let failed = try await Self.end(console, session, Self.id + "1")
            #expect(failed["error"]?.string?.hasSuffix("w2: still open: h: No answer.") == true)
        }
    }

    @Test func `A test notification reaches the request queue, at most ten a minute`() async throws {
        let broker = try await Self.brokerStart.value
        try await run("tests") { console, session in
            let arguments = #"{"app":"com.example.shop","device_token":"00fc13adff785122","title":"Hello"}"#
            for number in 0..<10 {
                let done = try await Self.act(console, session, "test_push", arguments, id: Self.id + "\(number)")
                #expect(done["state"]?.string == "done")
            }
            let body = try await Self.body(console, session, "test_push", arguments, id: Self.id + "f")
            let refused = try await console.request("POST", "/api/actions", session: session, body: body)
            #expect(refused.status == 429 && refused.code == "pace")
            let audit = try await console.request("GET", "/api/audit", session: session)
            #expect(!audit.body.contains("00fc13adff785122"))
        }
        let messages = try await BrokerClients.consume(10, from: "tests.requests", at: broker.url)
        let root = try JSONDocument(Array(messages[0].body)).root
        #expect(root["app"]?.string == "com.example.shop" && root["device_token"]?.string == "00fc13adff785122")
        #expect(Set(messages.compactMap { $0.properties.messageID }).count == 10)
    }

    @Test func `Queues are counted and missing ones are named`() async throws {
        let broker = try await Self.brokerStart.value
        try await run("queues") { console, session in
            try await BrokerClients.withAdmin(broker.url) { _ = try await $0.deleteQueue("queues.unrouted") }
            try await console.waitForChange(session, "the queues", at: "/api/queues") { body in
                let queues = body["queues"].map { Array($0.elements) } ?? []
                func queue(_ name: String) -> JSONValue? { queues.first { $0["name"]?.string == name } }
                return queue("queues.requests")?["messages"]?.int == 0
                    && queue("queues.pauses")?["messages"]?.kind == .null
                    && queue("queues.wait.5s.1")?["role"]?.string == "wait"
                    && queue("queues.wait.5s.1")?["messages"]?.int == 0
                    && queue("queues.unrouted")?["error"]?.string == "missing; run: martlet topology apply"
            }
        }
    }

    @Test func `The console keeps its state while the broker is away and continues afterwards`() async throws {
        let broker = try await PrivateBroker()
        try await ConsoleHarness.declare(broker.url, prefix: "away")
        try await ConsoleHarness.run("role_max: admin", broker: broker.url, prefix: "away") { console in
            let worker = SimulatedWorker(console)
            worker.breakers = [.init(route: "a:1 key K", code: "Shutdown", sentence: "APNs ends.", secondsOpen: 6)]
            let session = try await console.logIn(.admin)
            try await console.waitForChange(session, "a report") { $0["workers"]?.list.isEmpty == false }
            try await broker.stop()
            try await console.waitForChange(session, "the loss") { fleet in
                fleet["broker"]?["connected"]?.bool == false && fleet["workers"]?.list.isEmpty == false
            }
            let causes = try await console.request("GET", "/api/causes", session: session)
            #expect(try causes.json["broker"]?["connected"]?.bool == false)
            try await broker.start()
            try await console.waitForChange(session, "the connection") {
                $0["broker"]?["connected"]?.bool == true && $0["pauses"]?["revision"]?.int == 0
            }
            let paused = try await Self.act(console, session, "pause", #"{"scope":"key K"}"#, id: Self.id + "1")
            #expect(paused["state"]?.string == "done", "\(paused["error"]?.string ?? "")")
            await worker.close()
        }
        try await broker.end()
    }

    // The broker refuses every action of a user with the permissions for `role_max: view`.
    @Test func `A viewer's user may write the audit alone`() async throws {
        let broker = try await Self.brokerStart.value
        try await ConsoleHarness.declare(broker.url, prefix: "viewer")
        try await broker.rabbitmqctl("add_user", "console", "word")
        try await broker.rabbitmqctl(
            "set_permissions", "console", #"^viewer\.watch\..*"#, #"^viewer\.(watch\..*|control)$"#,
            #"^viewer\.(watch\..*|fleet|pauses|commands)$"#)
        try await broker.rabbitmqctl("set_topic_permissions", "console", "viewer.control", #"^audit\."#, "^$")
        let url = broker.url.replacing("guest:guest", with: "console:word")
        // The console is configured to allow actions, but its user may not act.
        try await ConsoleHarness.run("role_max: admin", broker: url, prefix: "viewer") { console in
            let session = try await console.logIn(.admin)
            try await console.waitForChange(session, "the connection") { $0["pauses"]?["revision"]?.int == 0 }
            let paused = try await Self.act(console, session, "pause", #"{"scope":"key K"}"#, id: Self.id + "1")
            #expect(paused["state"]?.string == "failed")
            try await console.waitForAudit(session) { records in
                records.filter { $0["verb"]?.string == "pause" }.count == 2
            }
        }
    }
}

extension ConsoleHarness {
    /// Waits until a part of the state fulfills a condition. Waits for changes, as a page does.
    func waitForChange(
        _ session: String, _ what: String, at path: String = "/api/fleet", _ isMet: (JSONValue) -> Bool
    ) async throws {
        let end = loop.now.monotonic + TestTimeout.duration
        var sequence = 0
        while loop.now.monotonic < end {
            let changes = try await request(
                "GET", "/api/changes?after=\(sequence)&wait_seconds=2", session: session)
            sequence = try changes.json["sequence"]?.int ?? sequence
            let answer = try await request("GET", path, session: session)
            if answer.status == 200, isMet(try answer.json) { return }
            await loop.sleep(for: .milliseconds(150))
        }
        throw ProcessError("no \(what) in time")
    }

    func waitForAudit(_ session: String, _ isMet: ([JSONValue]) -> Bool) async throws {
        try await waitForChange(session, "record of the audit", at: "/api/audit") { body in
            isMet(body["records"].map { Array($0.elements) } ?? [])
        }
    }
}
