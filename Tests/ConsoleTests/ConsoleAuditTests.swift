import AMQP
import BrokerTopology
import ControlProtocol
import Crypto
import EventLoop
import Glibc
import JSON
import TestKit
import Testing

@testable import Console

/// The records that a console writes to the audit of a real broker.
@Suite(.timeLimit(.minutes(5))) struct ConsoleAuditTests {
    private static let brokerStart = Task { try await PrivateBroker() }
    private static let id = "0c000000-0000-4000-8000-00000000000"

    /// Runs a test with a console that is connected, and with the session of an administrator.
    private func run(
        _ prefix: String, _ section: String = "role_max: admin", journal: [JournalBatch]? = nil,
        _ body: @escaping @Sendable (ConsoleHarness, String) async throws -> Void
    ) async throws {
        let broker = try await Self.brokerStart.value
        try await ConsoleHarness.declare(broker.url, prefix: prefix, hasJournal: journal != nil)
        let limits = SessionTable.Limits(requestsPerSecond: 1000)
        try await ConsoleHarness.run(
            section, broker: broker.url, prefix: prefix, limits: limits, journal: journal
        ) { console in
            let session = try await console.logIn(.admin)
            try await console.waitForChange(session, "the connection") { $0["pauses"]?["revision"]?.int == 0 }
            try await body(console, session)
        }
    }

    private static func refusals(_ records: [JSONValue], by name: String) -> [String] {
        records.filter { $0["verb"]?.string == "refusal" && $0["by"]?.string == name }
            .compactMap { $0["result"]?.string }
    }

    private static let probe = #"{"scope":"endpoint h"}"#

    /// Starts a worker whose breaker a probe does not close, and plans the probe.
    private static func planProbe(
        _ console: ConsoleHarness, _ session: String
    ) async throws -> (worker: SimulatedWorker, preview: RawHTTPResponse) {
        let worker = SimulatedWorker(console)
        worker.repairs = false
        worker.breakers = [.init(route: "h", code: "unreachable", sentence: "No answer.", secondsOpen: 6)]
        try await console.waitForChange(session, "the cause", at: "/api/causes") { $0["causes"]?.count == 1 }
        return (worker, try await console.preview(session, "probe", probe))
    }

    // MARK: Refusals

    @Test func `Refused previews, stops, ids and withdrawn tokens are recorded`() async throws {
        try await run("refusals", "role_max: admin, tokens_file: FOLDER/tokens.json") { console, session in
            let viewer = try await console.logIn(.view, name: "vera")
            #expect(try await console.preview(viewer, "redrive", "{}").code == "role")

            let (worker, preview) = try await Self.planProbe(console, session)
            let begin = #"""
                {"id":"\#(Self.id)1","action":"probe","arguments":\#(Self.probe),"why":"repaired",
                 "expect":"\#(try preview.json["expect"]?.string ?? "")"}
                """#
            let begun = try await console.request("POST", "/api/actions", session: session, body: begin)
            #expect(begun.status == 201, "\(begun.body)")
            let path = "/api/actions/\(Self.id)1"
            #expect(try await console.request("DELETE", path, session: viewer).code == "role")
            let bob = try await console.logIn(.admin, name: "bob")
            let taken = try await console.request("POST", "/api/actions", session: bob, body: begin)
            #expect(taken.code == "id_taken")

            let token = try Secret.make()
            for (name, tokens) in [("carol", [("carol", "view", token)]), ("dave", [])] {
                try console.write(tokens: [(name, "operate", token)])
                let own = try await console.logIn(token: token)
                try console.write(tokens: tokens)
                #expect(try await console.preview(own, "drop", "{}").status == 401)
            }
            try await console.waitForAudit(session) { records in
                Self.refusals(records, by: "vera") == ["stop: role view", "preview of redrive: role view"]
                    && Self.refusals(records, by: "bob") == ["probe: the id of another action"]
                    && Self.refusals(records, by: "carol") == ["preview of drop: the role is now view"]
                    && Self.refusals(records, by: "dave") == ["preview of drop: the token was withdrawn or has expired"]
            }
            await worker.close()
        }
    }

    @Test func `A flood of foreign requests hides no failed login, and is counted`() async throws {
        try await run("foreign") { console, session in
            let refused = try await console.request("GET", "/api/fleet", headers: [("Origin", "https://evil.example")])
            #expect(refused.status == 403)
            for _ in 0..<100 {
                let answer = try await console.request("GET", "/", headers: [("Host", "evil.example")])
                #expect(answer.status == 403)
            }
            let guess = #"{"code":"\#(String(repeating: "0", count: 64))"}"#
            #expect(try await console.request("POST", "/api/session", body: guess).status == 401)
            try await console.waitForAudit(session) { records in
                let found = Self.refusals(records, by: "unknown")
                let omitted = found.filter { $0.hasPrefix("omitted refusals of requests of other sites: ") }
                    .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
                let recorded = found.count { $0 == "Host header: evil.example" }
                return found.contains("Origin header: https://evil.example")
                    && found.contains("login with a wrong code") && omitted > 0 && omitted + recorded == 100
            }
        }
    }

    @Test func `Logins and the count of refusals are recorded when the broker returns`() async throws {
        let broker = try await PrivateBroker()
        try await ConsoleHarness.declare(broker.url, prefix: "returns")
        try await ConsoleHarness.run("role_max: admin", broker: broker.url, prefix: "returns") { console in
            let session = try await console.logIn(.admin)
            try await console.waitForChange(session, "the connection") { $0["broker"]?["connected"]?.bool == true }
            try await broker.stop()
            try await console.waitForChange(session, "the loss") { $0["broker"]?["connected"]?.bool == false }
            _ = try await console.logIn(.view, name: "dora")
            let guess = #"{"code":"\#(String(repeating: "0", count: 64))"}"#
            #expect(try await console.request("POST", "/api/session", body: guess).status == 401)
            try await broker.start()
            try await console.waitForAudit(session) { records in
                records.contains { $0["verb"]?.string == "login" && $0["by"]?.string == "dora" }
                    && Self.refusals(records, by: "unknown") == ["omitted refusals of requests without a login: 1"]
            }
        }
        try await broker.end()
    }

    // MARK: Reveals

    @Test func `The record of a reveal names the request, and not its values`() async throws {
        let now = Int64(time(nil)) * 1000
        let journal = [
            JournalLines.batch(
                [JournalLines.refused(2, path: "/user", at: now), JournalLines.sample(2, path: "/user", at: now)],
                at: now)
        ]
        try await run("names", journal: journal) { console, session in
            try await console.waitForChange(session, "the history", at: "/api/dead/groups") { $0["groups"]?.count == 1 }
            let groups = try await console.request("GET", "/api/dead/groups", session: session)
            let requests = try await console.request("GET", "/api/requests", session: session)
            let group = try #require(try groups.json["groups"]?.list.first?["group"]?.string)
            let key = try #require(try requests.json["requests"]?.list.first?["key"]?.string)
            for body in [
                #"{"kind":"payload","group":"\#(group)","index":0,"why":"a complaint"}"#,
                #"{"kind":"token","request":"\#(key)"}"#,
            ] {
                let revealed = try await console.request("POST", "/api/reveal", session: session, body: body)
                #expect(try revealed.json["value"]?.string?.contains(JournalLines.token) == true, "\(revealed.body)")
            }
            try await console.waitForAudit(session) { records in
                let reveals = records.filter { $0["verb"]?.string == "reveal" }
                return reveals.compactMap { $0["result"]?.string } == [
                    "the device token of the request \(JournalLines.id(2))",
                    "the payload of the dead letter \(JournalLines.id(2)), failed at \(now): BadTopic",
                ]
            }
            let audit = try await console.request("GET", "/api/audit", session: session)
            #expect(!audit.body.contains(JournalLines.token) && !audit.body.contains(JournalLines.user))
        }
    }

    // MARK: Shutdown

    @Test func `A console that stops records the ends of running and queued actions`() async throws {
        try await run("stops") { console, session in
            let (worker, preview) = try await Self.planProbe(console, session)
            let expect = try preview.json["expect"]?.string ?? ""
            for number in 1...2 {
                let begun = try await console.request(
                    "POST", "/api/actions", session: session,
                    body: #"""
                        {"id":"\#(Self.id)\#(number)","action":"probe","arguments":\#(Self.probe),"why":"repaired",
                         "expect":"\#(expect)"}
                        """#)
                #expect(begun.status == 201, "\(begun.body)")
            }
            // The probe has begun, so its first record is in the audit.
            try await console.loop.wait { !worker.probes.isEmpty }
            await console.server.stop()
            await worker.close()
        }
        try await run("stops") { console, session in
            try await console.waitForAudit(session) { records in
                func ofAction(_ number: Int) -> [JSONValue] {
                    records.filter { $0["id"]?.string == "\(Self.id)\(number)" }
                }
                return ofAction(1).compactMap { $0["phase"]?.string } == ["after", "before"]
                    && ofAction(2).compactMap { $0["result"]?.string }
                        == ["not begun, because the console has ended"]
            }
        }
    }
}
