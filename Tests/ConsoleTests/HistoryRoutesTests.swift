import ControlProtocol
import Crypto
import Glibc
import History
import JSON
import TestKit
import Testing

@testable import Console

/// The API of the history, with real files.
@Suite(.timeLimit(.minutes(2))) struct HistoryRoutesTests {
    private static let path = "/payload/aps/sound"

    private static func journal() -> [JournalBatch] {
        let now = Int64(time(nil)) * 1000
        let bulk = (100..<160).map {
            JournalLines.accepted($0, app: "com.example.bulk", token: "ffff" + JournalLines.token, at: now)
        }
        return [
            JournalLines.batch(bulk, at: now),
            JournalLines.batch(
                [
                    JournalLines.accepted(1, at: now), JournalLines.refused(2, path: path, at: now),
                    JournalLines.sample(2, path: path, at: now), JournalLines.wait(3, at: now),
                ], sequence: 2, at: now),
        ]
    }

    private func run(_ body: @escaping @Sendable (ConsoleHarness, String) async throws -> Void) async throws {
        try await ConsoleHarness.run("role_max: operate", journal: Self.journal()) { console in
            let session = try await console.logIn(.view)
            try await console.waitForChange(session, "the history", at: "/api/apps") { $0["apps"]?.count == 2 }
            try await body(console, session)
        }
    }

    @Test func `Requests are found by id, token and user, with shortened tokens`() async throws {
        try await run { console, session in
            let own = try await console.request("GET", "/api/session", session: session)
            #expect(try own.json["history"]?.bool == true)
            let found = try await console.request("GET", "/api/requests?token=00FC", session: session)
            #expect(found.status == 200)
            let rows = try #require(try found.json["requests"]?.list)
            #expect(rows.compactMap { $0["outcome"]?.string } == ["waiting", "refused", "accepted"])
            #expect(rows.allSatisfy { $0["device_token"]?.string == "00fc13ad…+56" })
            #expect(rows.compactMap { $0["code"]?.string } == ["InvalidProviderToken", "BadTopic"])
            #expect(!found.body.contains(JournalLines.token))

            let id = try await console.request("GET", "/api/requests?id=\(JournalLines.id(1))", session: session)
            let row = try #require(try id.json["requests"]?.list.first)
            let key = try #require(row["key"]?.string)
            let one = try await console.request("GET", "/api/requests/\(key)", session: session)
            let events = try one.json["steps"]?.list.compactMap { $0["event"]?.string }
            #expect(events == ["published", "delivered", "attempt", "result"])
            #expect(try one.json["result"]?["status"]?.int == 200 && one.json["result"]?["user"]?.string == "…")
            #expect(!one.body.contains(JournalLines.token) && !one.body.contains(JournalLines.user))

            let user = try await console.request("GET", "/api/requests?user=\(JournalLines.user)", session: session)
            #expect(try user.json["requests"]?.count == 50)
            let missing = try await console.request("GET", "/api/requests?id=\(JournalLines.id(9))", session: session)
            #expect(try missing.json["requests"]?.count == 0)
        }
    }

    @Test func `A part of a token of more than 10 digits finds nothing, and the answer names the limit`() async throws {
        let sentence = "A part of a device token finds requests only if it has at most 10 digits."
        try await run { console, session in
            let token = JournalLines.token
            for (text, count) in [(String(token.prefix(10)), 3), (String(token.prefix(12)), 0), (token, 3)] {
                let found = try await console.request("GET", "/api/requests?token=\(text)", session: session)
                #expect(try found.json["requests"]?.count == count, "\(text)")
                #expect(try found.json["note"]?.string == (count > 0 ? nil : sentence))
            }
            let odd = try await console.request("GET", "/api/requests?token=\(token.prefix(11))", session: session)
            #expect(
                try odd.json["error"]?.string
                    == "token must be a whole device token, or its first 4 to 10 hexadecimal digits")
        }
    }

    @Test func `The history has the current role of a token`() async throws {
        try await ConsoleHarness.run(
            "role_max: admin, tokens_file: FOLDER/tokens.json", journal: Self.journal()
        ) { console in
            let token = try Secret.make()
            try console.write(tokens: [("carol", "operate", token)])
            let session = try await console.logIn(token: token)
            try await console.waitForChange(session, "the history", at: "/api/apps") { $0["apps"]?.count == 2 }
            let groups = try await console.request("GET", "/api/dead/groups", session: session)
            let group = try groups.json["groups"]?.list.first?["group"]?.string ?? ""
            func body() async throws -> String? {
                let answer = try await console.request("GET", "/api/dead/samples?group=\(group)", session: session)
                return try answer.json["samples"]?.list.first?["body"]?.string
            }
            #expect(try await body()?.contains("secret") == true)
            try console.write(tokens: [("carol", "view", token)])
            #expect(try await body() == Self.body(user: "…", alert: "…"))
            #expect(try await console.request("GET", "/api/fleet", session: session).status == 200)
            try console.write(tokens: [])
            let refused = try await console.request("GET", "/api/requests", session: session)
            #expect(refused.status == 401 && refused.code == "login")
            #expect(try await console.request("GET", "/api/fleet", session: session).status == 401)
        }
    }

    @Test func `Pages contain each request once`() async throws {
        try await run { console, session in
            var keys: [String] = []
            var target = "/api/requests"
            while true {
                let page = try await console.request("GET", target, session: session)
                keys += try page.json["requests"]?.list.compactMap { $0["key"]?.string } ?? []
                guard let next = try page.json["next"]?.string else { break }
                target = "/api/requests?before=\(next)"
            }
            #expect(keys.count == 63 && Set(keys).count == 63)
        }
    }

    private static func body(user: String, alert: String) -> String {
        #"{"device_token":"00fc13ad…+56","user":"\#(user)","#
            + #""payload":{"aps":{"alert":"\#(alert)","sound":"wrong"},"n":12}}"#
    }

    @Test func `Dead letters are grouped, and a viewer sees only the text at the error`() async throws {
        try await run { console, session in
            let groups = try await console.request("GET", "/api/dead/groups", session: session)
            let group = try #require(try groups.json["groups"]?.list.first)
            #expect(group["code"]?.string == "BadTopic" && group["count"]?.int == 1 && group["hours"]?.count == 24)
            #expect(try groups.json["in_queue"]?.kind == .null)
            let target = "/api/dead/samples?group=\(group["group"]?.string ?? "")"
            let masked = try await console.request("GET", target, session: session)
            let sample = try #require(try masked.json["samples"]?.list.first)
            #expect(sample["body"]?.string == Self.body(user: "…", alert: "…"))
            #expect(sample["headers"]?["push-attempts"]?.string == "1")
            #expect(sample["headers"]?["customer"]?.string == "…")
            let operate = try await console.logIn(.operate)
            let shown = try await console.request("GET", target, session: operate)
            let body = try shown.json["samples"]?.list.first?["body"]?.string
            #expect(body == Self.body(user: JournalLines.user, alert: "secret"))
        }
    }

    @Test func `Apps have the figures of the last hour`() async throws {
        try await run { console, session in
            let apps = try await console.request("GET", "/api/apps", session: session)
            let shop = try #require(try apps.json["apps"]?.list.last)
            #expect(shop["app"]?.string == JournalLines.app)
            #expect(shop["accepted"]?.int == 1 && shop["refused"]?.int == 1 && shop["gone_share"]?.double == 0)
            #expect(shop["last_accepted_at"]?.int64 ?? 0 > 0)
        }
    }

    @Test(arguments: [
        ("/api/requests?token=00f", 400, "invalid"), ("/api/requests?token=00fc13ad001", 400, "invalid"),
        ("/api/requests?token=zzzz", 400, "invalid"),
        ("/api/requests?id=", 400, "invalid"), ("/api/requests?user=", 400, "invalid"),
        ("/api/requests?id=a&user=b", 400, "invalid"), ("/api/requests?before=1", 400, "cursor"),
        ("/api/requests?before=01.1", 400, "cursor"), ("/api/requests?before=1.-1", 400, "cursor"),
        ("/api/requests?before=99999999999999999999.1", 400, "cursor"), ("/api/requests/7.7", 404, "unknown"),
        ("/api/requests/x", 404, "unknown"), ("/api/dead/samples?group=x", 400, "invalid"),
        ("/api/dead/samples", 400, "invalid"),
    ])
    func `Forged values are refused`(_ target: String, _ status: Int, _ code: String) async throws {
        try await run { console, session in
            let answer = try await console.request("GET", target, session: session)
            #expect(answer.status == status && answer.code == code, "\(answer.body)")
            #expect(try await console.request("GET", target).status == 401)
        }
    }

    @Test func `Without a journal the history is off`() async throws {
        try await ConsoleHarness.run { console in
            let session = try await console.logIn(.view)
            #expect(try await console.request("GET", "/api/session", session: session).json["history"]?.bool == false)
            for target in ["/api/requests", "/api/dead/groups", "/api/apps"] {
                let answer = try await console.request("GET", target, session: session)
                #expect(answer.status == 404 && answer.code == "history_off")
            }
        }
    }
}
