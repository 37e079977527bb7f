import ControlProtocol
import EventLoop
import Glibc
import JSON
import TestKit
import Testing

@testable import Console

/// Attacks on a console whose broker is away.
@Suite(.timeLimit(.minutes(2))) struct ConsoleSecurityTests {
    // MARK: Logins

    @Test func `A code logs in once`() async throws {
        try await ConsoleHarness.run("role_max: admin") { console in
            let body = #"{"code":"\#(try console.code(.operate))"}"#
            let first = try await console.request("POST", "/api/session", body: body)
            #expect(first.status == 201 && first.headers["cache-control"] == "no-store")
            let session = try #require(try first.json["session"]?.string)
            #expect(session.utf8.count == 64 && first.headers["set-cookie"] == nil)
            #expect(try first.json["role"]?.string == "operate" && first.json["idle_seconds"]?.int == 1800)
            let replay = try await console.request("POST", "/api/session", body: body)
            #expect(replay.status == 401 && replay.code == "login_failed")
            let known = try await console.request("GET", "/api/session", session: session)
            #expect(try known.status == 200 && known.json["name"]?.string == "alice")
            #expect(
                try known.json["commands"]?["dead_letters_list"]?.string
                    == "martlet dead-letters list --config martlet.yaml", "\(known.body)")
            #expect(try known.json["role_max"]?.string == "admin" && known.json["history"]?.bool == false)
            let ended = try await console.request("DELETE", "/api/session", session: session)
            #expect(ended.status == 204 && ended.body.isEmpty)
            let gone = try await console.request("GET", "/api/session", session: session)
            #expect(gone.status == 401 && gone.code == "login")
        }
    }

    @Test func `A cookie grants nothing`() async throws {
        try await ConsoleHarness.run("role_max: admin") { console in
            let session = try await console.logIn(.operate)
            for name in ["session", "martlet-session", "authorization", "Authorization"] {
                let cookie = [("Cookie", "\(name)=\(session); \(name)=Bearer \(session)")]
                let read = try await console.request("GET", "/api/session", headers: cookie)
                #expect(read.status == 401 && read.headers["set-cookie"] == nil)
                let login = try await console.request("POST", "/api/session", headers: cookie, body: "{}")
                #expect(login.status == 400)
            }
        }
    }

    @Test func `Guesses are refused and limited, and a right code still works`() async throws {
        try await ConsoleHarness.run { console in
            let code = try console.code(.view)
            var statuses: [Int] = []
            for number in 0..<14 {
                let guess = String(repeating: "\(number % 10)", count: 64)
                let answer = try await console.request("POST", "/api/session", body: #"{"code":"\#(guess)"}"#)
                statuses.append(answer.status)
            }
            #expect(statuses.first == 401 && statuses.contains(429) && Set(statuses) == [401, 429])
            let right = try await console.request("POST", "/api/session", body: #"{"code":"\#(code)"}"#)
            #expect(right.status == 201)
        }
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"code":7}"#, #"{"code":"a","token":"b"}"#,
        String(repeating: "[", count: 5000),
    ])
    func `Bodies without a login are refused`(body: String) async throws {
        try await ConsoleHarness.run { console in
            let answer = try await console.request("POST", "/api/session", body: body)
            #expect([400, 401].contains(answer.status), "\(answer.status) \(answer.body)")
        }
    }

    @Test func `A code gives at most the console's role`() async throws {
        try await ConsoleHarness.run("role_max: view") { console in
            let session = try await console.logIn(.admin)
            let answer = try await console.request("GET", "/api/session", session: session)
            #expect(try answer.json["role"]?.string == "view")
        }
    }

    @Test func `A withdrawn or lowered token loses its rights at once`() async throws {
        try await ConsoleHarness.run("role_max: admin, tokens_file: FOLDER/tokens.json") { console in
            let token = try Secret.make()
            func write(_ role: String) throws { try console.write(tokens: [("carol", role, token)]) }
            try write("operate")
            let body = #"{"token":"\#(token)"}"#
            let login = try await console.request("POST", "/api/session", body: body)
            let session = try #require(try login.json["session"]?.string)
            #expect(try login.json["name"]?.string == "carol")
            try write("view")
            let action = #"""
                {"id":"00000000-0000-4000-8000-000000000001","action":"resume","arguments":{"scope":"topic t"},
                 "why":"w","expect":""}
                """#
            let refused = try await console.request("POST", "/api/actions", session: session, body: action)
            #expect(refused.status == 401)
            #expect(try await console.request("GET", "/api/fleet", session: session).status == 401)
            chmod(console.folder.file("tokens.json"), 0o666)
            let open = try await console.request("POST", "/api/session", body: body)
            #expect(open.status == 503 && open.code == "tokens")
        }
    }

    @Test func `A withdrawn or lowered token plans no action on messages`() async throws {
        try await ConsoleHarness.run("role_max: admin, tokens_file: FOLDER/tokens.json") { console in
            let token = try Secret.make()
            for tokens in [[("carol", "view", token)], []] {
                try console.write(tokens: [("carol", "operate", token)])
                let session = try await console.logIn(token: token)
                // The broker is away.
                #expect(try await console.preview(session, "redrive", "{}").status == 503)
                try console.write(tokens: tokens)
                #expect(try await console.preview(session, "redrive", "{}").status == 401)
                #expect(try await console.request("GET", "/api/session", session: session).status == 401)
            }
        }
    }

    @Test func `A refusal names the command of the packaged console`() async throws {
        try await ConsoleHarness.run { console in
            for answer in [
                try await console.request("GET", "/api/session"),
                try await console.request("POST", "/api/session", body: #"{"code":"x"}"#),
            ] {
                #expect(try answer.json["remedy"]?.string == "sudo -u martlet-console martlet console open")
            }
        }
    }

    @Test func `A session ends when it is idle`() async throws {
        var limits = SessionTable.Limits()
        limits.idleSeconds = 0
        try await ConsoleHarness.run(limits: limits) { console in
            let session = try await console.logIn(.view)
            #expect(try await console.request("GET", "/api/session", session: session).status == 401)
        }
    }

    @Test func `A page without an operator becomes idle`() async throws {
        var limits = SessionTable.Limits()
        limits.idleSeconds = 1
        try await ConsoleHarness.run(limits: limits) { console in
            let session = try await console.logIn(.view)
            try await poll(until: "an idle session") {
                try await console.request(
                    "GET", "/api/session", session: session, headers: [("Martlet-Unattended", "1")]
                ).status == 401
            }
        }
    }

    @Test func `Requests of a session are limited`() async throws {
        // A slow machine sends fewer requests a second than the usual limit.
        try await ConsoleHarness.run(limits: SessionTable.Limits(requestsPerSecond: 2)) { console in
            let session = try await console.logIn(.view)
            let client = try await console.client()
            for _ in 0..<60 { client.send("GET", "/api/session", headers: ["Authorization": "Bearer \(session)"]) }
            var statuses: [Int] = []
            for _ in 0..<60 { statuses.append(try await client.response().status) }
            client.close()
            #expect(statuses.first == 200 && statuses.contains(429) && Set(statuses) == [200, 429])
        }
    }

    // MARK: Requests

    @Test(arguments: ["", "Bearer", "Basic YTpi", "Bearer " + String(repeating: "0", count: 64), "Bearer ../x"])
    func `Every part of the API needs a session`(authorization: String) async throws {
        try await ConsoleHarness.run { console in
            for (method, path) in [
                ("GET", "/api/session"), ("DELETE", "/api/session"), ("GET", "/api/changes"), ("GET", "/api/fleet"),
                ("GET", "/api/causes"), ("GET", "/api/queues"), ("GET", "/api/credentials"), ("GET", "/api/audit"),
                ("POST", "/api/actions"), ("POST", "/api/actions?preview=1"),
                ("GET", "/api/actions/00000000-0000-4000-8000-000000000001"),
                ("DELETE", "/api/actions/00000000-0000-4000-8000-000000000001"),
            ] {
                let headers = authorization.isEmpty ? [] : [("Authorization", authorization)]
                let body = method == "POST" ? "{}" : nil
                let answer = try await console.request(method, path, headers: headers, body: body)
                #expect(answer.status == 401 && answer.code == "login", "\(method) \(path): \(answer.status)")
            }
        }
    }

    @Test func `Two Authorization headers are refused`() async throws {
        try await ConsoleHarness.run { console in
            let session = try await console.logIn(.view)
            let answer = try await console.request(
                "GET", "/api/session", session: session, headers: [("Authorization", "Bearer \(session)")])
            #expect(answer.status == 401)
        }
    }

    @Test func `Foreign origins and rebound hosts are refused, also with a session`() async throws {
        try await ConsoleHarness.run("host_names: [push.example.com]") { console in
            let session = try await console.logIn(.view)
            for (headers, status) in [
                ([("Host", "localhost"), ("Origin", "https://evil.example")], 403),
                ([("Host", "localhost"), ("Origin", "null")], 403),
                ([("Host", "evil.example")], 403), ([("Host", "push.example.com.evil.example")], 403),
                ([("Host", "push.example.com"), ("Origin", "https://push.example.com")], 200),
                ([("Host", "localhost"), ("Origin", "http://localhost")], 200),
            ] {
                let answer = try await console.request("GET", "/api/session", session: session, headers: headers)
                #expect(answer.status == status, "\(headers)")
            }
            let page = try await console.request("GET", "/", headers: [("Host", "evil.example")])
            #expect(page.status == 403)
        }
    }

    @Test(arguments: ["X-Forwarded-User", "X_Forwarded_User", "x-forwarded_groups", "X-FORWARDED-GROUPS"])
    func `Login headers over TCP are refused`(name: String) async throws {
        try await ConsoleHarness.run("role_max: admin") { console in
            let login = try await console.request("POST", "/api/session", headers: [(name, "admin")], body: "{}")
            #expect(login.status == 400 && login.code == "proxy_headers")
            let session = try await console.logIn(.view)
            let later = try await console.request("GET", "/api/fleet", session: session, headers: [(name, "admin")])
            #expect(later.status == 400)
        }
    }

    @Test func `Large bodies and long targets are refused`() async throws {
        try await ConsoleHarness.run { console in
            let session = try await console.logIn(.view)
            let large = String(repeating: "a", count: 1 << 20)
            let body = try await console.request("POST", "/api/actions", session: session, body: large)
            #expect(body.status == 413)
            let target = try await console.request("GET", "/api/audit?before=" + large, session: session)
            #expect(target.status == 414)
        }
    }

    @Test(arguments: [
        "/../etc/passwd", "/%2e%2e/etc/passwd", "/..%2fetc%2fpasswd", "/page/../../etc/passwd", "//etc/passwd",
        "/api/actions/..%2f..%2fetc", "/index.html/..",
    ])
    func `No path leads to a file`(path: String) async throws {
        try await ConsoleHarness.run { console in
            let session = try await console.logIn(.view)
            let answer = try await console.request("GET", path, session: session)
            #expect(answer.status == 404 && !answer.body.contains("root:"))
        }
    }

    @Test(arguments: ["x", "-1", "1e3", "07", "99999999999999999999", "%00", ""])
    func `Forged cursors are refused`(cursor: String) async throws {
        try await ConsoleHarness.run { console in
            let session = try await console.logIn(.view)
            let answer = try await console.request("GET", "/api/audit?before=\(cursor)", session: session)
            #expect(answer.status == 400 && answer.code == "cursor")
        }
    }

    @Test func `The page is served without a session and with its policy`() async throws {
        try await ConsoleHarness.run { console in
            let page = try await console.request("GET", "/")
            #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(page.headers["content-security-policy"]?.contains("require-trusted-types-for 'script'") == true)
            #expect(page.headers["cross-origin-opener-policy"] == "same-origin")
            #expect(page.headers["cross-origin-resource-policy"] == "same-origin")
            #expect(page.headers["cache-control"] == "no-store")
        }
    }

    // MARK: A broker that is away

    @Test func `The state is shown and actions are refused while the broker is away`() async throws {
        try await ConsoleHarness.run("role_max: admin") { console in
            let session = try await console.logIn(.admin)
            let fleet = try await console.request("GET", "/api/fleet", session: session)
            #expect(try fleet.status == 200 && fleet.json["broker"]?["connected"]?.bool == false)
            #expect(try fleet.json["workers"]?.list.isEmpty == true)
            let action = #"""
                {"id":"00000000-0000-4000-8000-000000000001","action":"pause","arguments":{"scope":"topic t"},
                 "why":"w","expect":"x"}
                """#
            let answer = try await console.request("POST", "/api/actions", session: session, body: action)
            #expect(answer.status == 503 && answer.code == "broker")
        }
    }

    @Test(arguments: [OperatorRole.view, .operate])
    func `A role is needed before anything else`(role: OperatorRole) async throws {
        try await ConsoleHarness.run("role_max: admin") { console in
            let session = try await console.logIn(role)
            let scope = role == .view ? "topic t" : "everything"
            let action = #"""
                {"id":"00000000-0000-4000-8000-000000000001","action":"pause","arguments":{"scope":"\#(scope)"},
                 "why":"w","phrase":"pause push","expect":"x"}
                """#
            let answer = try await console.request("POST", "/api/actions", session: session, body: action)
            #expect(answer.status == 403 && answer.code == "role")
        }
    }

    @Test(arguments: [
        #"{}"#, #"{"action":"pause"}"#, #"{"action":"erase","arguments":{},"why":"w"}"#,
        #"{"action":"pause","arguments":{"scope":"host x"},"why":"w"}"#,
        #"{"action":"pause","arguments":{"scope":"topic t"},"why":""}"#,
        #"{"action":"pause","arguments":{"scope":"topic t","until_seconds":0},"why":"w"}"#,
        #"{"action":"pause","arguments":{"scope":"topic t","until_seconds":99999999},"why":"w"}"#,
        #"{"action":"pause","arguments":{"scope":"topic t"},"why":"a\u001b[31mb"}"#,
        #"{"action":"probe","arguments":{},"why":"w"}"#, #"{"action":"probe","arguments":{"scope":"key K"},"why":""}"#,
        #"{"action":"probe","arguments":{"scope":"endpoint a\u001bb"},"why":"w"}"#,
        #"{"action":"test_push","arguments":{"app":"../x","device_token":"ab","title":"t"},"why":"w"}"#,
        #"{"action":"test_push","arguments":{"app":"a.b","device_token":"zz","title":"t"},"why":"w"}"#,
    ])
    func `Invalid actions are refused`(body: String) async throws {
        try await ConsoleHarness.run("role_max: admin") { console in
            let session = try await console.logIn(.admin)
            let answer = try await console.request("POST", "/api/actions?preview=1", session: session, body: body)
            #expect(answer.status == 400 && answer.code == "invalid", "\(answer.body)")
        }
    }

    @Test(arguments: [OperatorRole.view, .operate, .admin])
    func `A session lists the actions of its role, which the console may lower`(roleMax: OperatorRole) async throws {
        try await ConsoleHarness.run("role_max: \(roleMax.rawValue)") { console in
            let session = try await console.logIn(.admin)
            let answer = try await console.request("GET", "/api/session", session: session)
            let operate = ["pause", "resume", "probe", "test_push", "redrive", "bring_back", "edit"]
            let actions: [String] =
                switch roleMax {
                case .view: []
                case .operate: operate
                case .admin: operate + ["drop"]
                }
            #expect(try answer.json["actions"]?.list.map(\.string) == actions)
        }
    }

    // MARK: Changes

    @Test func `A wait for changes ends with the session or after its time`() async throws {
        try await ConsoleHarness.run { console in
            let session = try await console.logIn(.view)
            let first = try await console.request("GET", "/api/changes?after=0", session: session)
            let sequence = try #require(try first.json["sequence"]?.int)
            #expect(try first.json["changed"]?.list.count == ConsolePart.allCases.count)
            let client = try await console.client()
            defer { client.close() }
            client.send(
                "GET", "/api/changes?after=\(sequence + 1000)&wait_seconds=25",
                headers: ["Authorization": "Bearer \(session)"])
            // A number of an earlier process is answered at once.
            #expect(try await client.response().status == 200)
            let timed = try await console.request(
                "GET", "/api/changes?after=\(sequence)&wait_seconds=26", session: session)
            #expect(timed.status == 400)
        }
    }

    @Test func `A slow reader does not delay others`() async throws {
        try await ConsoleHarness.run { console in
            let session = try await console.logIn(.view)
            let slow = try await console.client()
            defer { slow.close() }
            slow.pauseReading()
            for _ in 0..<15 { slow.send("GET", "/api/fleet", headers: ["Authorization": "Bearer \(session)"]) }
            let other = try await console.logIn(.view, name: "bob")
            #expect(try await console.request("GET", "/api/fleet", session: other).status == 200)
        }
    }
}
