import Configuration
import ControlProtocol
import EventLoop
import Glibc
import JSON
import TestKit
import Testing

@testable import Console

extension MonotonicTime {
    static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }
}

/// Codes, sessions, personal tokens and the headers of a proxy.
@Suite struct LoginTests {
    private static let alice = Operator(name: "alice", role: .operate, proof: .code)

    // MARK: Codes

    @Test func `A code works once`() {
        var codes = LoginCodes()
        codes.add(hash: "a", Self.alice, at: .at(0))
        #expect(codes.redeem(hash: "b", at: .at(1)) == nil)
        #expect(codes.redeem(hash: "a", at: .at(1)) == Self.alice)
        #expect(codes.redeem(hash: "a", at: .at(1)) == nil)
    }

    @Test(arguments: [(59.9, true), (60.1, false)])
    func `A code expires`(seconds: Double, isValid: Bool) {
        var codes = LoginCodes()
        codes.add(hash: "a", Self.alice, at: .at(0))
        #expect((codes.redeem(hash: "a", at: .at(seconds)) != nil) == isValid)
    }

    @Test func `The number of codes is limited`() {
        var codes = LoginCodes()
        for number in 0...LoginCodes.codesMax { codes.add(hash: "\(number)", Self.alice, at: .at(0)) }
        #expect(codes.redeem(hash: "0", at: .at(0)) == nil && codes.redeem(hash: "1", at: .at(0)) != nil)
    }

    // MARK: Sessions

    private func table(
        idle: Int = 1800, lifetime: Int = 43_200, sessions: Int = 256, perName: Int = 32
    ) -> SessionTable {
        SessionTable(
            SessionTable.Limits(
                idleSeconds: idle, lifetimeSeconds: lifetime, sessionsMax: sessions, sessionsPerNameMax: perName))
    }

    private func isValid(_ use: SessionTable.Use) -> Bool {
        if case .session = use { true } else { false }
    }

    @Test func `An idle session ends and a used one lasts`() {
        var table = table()
        table.add(hash: "idle", Self.alice, at: .at(0))
        table.add(hash: "used", Self.alice, at: .at(0))
        #expect(isValid(table.use(hash: "used", at: .at(1799))))
        #expect(table.use(hash: "idle", at: .at(1801)) == .unknown)
        #expect(isValid(table.use(hash: "used", at: .at(3598))))
    }

    @Test func `Waits for changes keep no session alive`() {
        var table = table()
        table.add(hash: "a", Self.alice, at: .at(0))
        #expect(isValid(table.use(hash: "a", isWaiting: true, at: .at(1799))))
        #expect(table.use(hash: "a", isWaiting: true, at: .at(1801)) == .unknown)
    }

    @Test func `No session outlives its lifetime or its token`() {
        var table = table(idle: 100_000)
        table.add(hash: "a", Self.alice, at: .at(0))
        table.add(hash: "b", Self.alice, secondsMax: 60, at: .at(0))
        #expect(isValid(table.use(hash: "b", at: .at(59))) && table.use(hash: "b", at: .at(61)) == .unknown)
        #expect(isValid(table.use(hash: "a", at: .at(43_199))) && table.use(hash: "a", at: .at(43_201)) == .unknown)
    }

    @Test func `A further session replaces the one that was idle longest`() {
        var table = table(perName: 2)
        table.add(hash: "a", Self.alice, at: .at(0))
        table.add(hash: "b", Self.alice, at: .at(1))
        #expect(isValid(table.use(hash: "a", at: .at(2))))
        table.add(hash: "c", Self.alice, at: .at(3))
        #expect(table.count == 2 && table.use(hash: "b", at: .at(4)) == .unknown)
        #expect(isValid(table.use(hash: "a", at: .at(4))))
    }

    @Test func `One operator cannot end the sessions of others`() {
        var table = table(sessions: 8, perName: 4)
        table.add(hash: "bob", Operator(name: "bob", role: .view, proof: .code), at: .at(0))
        for number in 0..<100 { table.add(hash: "\(number)", Self.alice, at: .at(1)) }
        #expect(table.count == 5 && isValid(table.use(hash: "bob", at: .at(2))))
    }

    @Test func `Requests of a session are limited`() {
        var table = table()
        table.add(hash: "a", Self.alice, at: .at(0))
        let first = (0..<30).count { _ in isValid(table.use(hash: "a", at: .at(0))) }
        #expect(first == 20 && table.use(hash: "a", at: .at(0)) == .tooFast)
        let later = (0..<100).count { isValid(table.use(hash: "a", at: .at(10 + Double($0) / 100))) }
        #expect(39...40 ~= later)
    }

    // MARK: Secrets and tokens

    @Test func `A secret has 256 bits and only its hash is stored`() throws {
        let (one, other) = (try Secret.make(), try Secret.make())
        #expect(one.utf8.count == 64 && one != other)
        #expect(Secret.hash(one) != one && Secret.hash(one)?.utf8.count == 64)
        // SHA-256 of 64 zeros, by sha256sum.
        #expect(
            Secret.hash(String(repeating: "0", count: 64))
                == "60e05bd1b195af2f94112fa7197a5c88289058840ce7c6df9693756bc6250f55")
        #expect(Secret.hash("") == nil && Secret.hash(one.uppercased() + "0") == nil)
    }

    @Test func `Tokens expire`() throws {
        let hash = String(repeating: "a", count: 64)
        let text = """
            {"tokens":[{"name":"alice","role":"operate","sha256":"\(hash)","expires":1764300000000}]}
            """
        let file = try TokenFile(json: Array(text.utf8))
        #expect(file.token(hash: hash, at: 1_764_299_999_999)?.role == .operate)
        #expect(file.token(hash: hash, at: 1_764_300_000_000) == nil)
        #expect(try TokenFile(json: file.json) == file)
    }

    @Test(arguments: [
        #"{"tokens":[{"name":"a","role":"root","sha256":"HASH"}]}"#, #"{"tokens":[{"name":"a","role":"view"}]}"#,
        #"{"tokens":[{"name":"a","role":"view","sha256":"ab"}]}"#, #"[]"#, "{",
    ])
    func `Invalid files of tokens are refused`(text: String) {
        let text = text.replacing("HASH", with: String(repeating: "a", count: 64))
        #expect(throws: InputError.self) { try TokenFile(json: Array(text.utf8)) }
    }

    @Test func `The file of tokens is read again only after a change`() throws {
        let folder = try TemporaryDirectory("tokens")
        let hash = String(repeating: "a", count: 64)
        let path = try folder.write("tokens.json", "{")
        chmod(path, 0o644)
        var count = 0
        let reader = TokenReader(path: path) { path in
            count += 1
            return try FileReader.bytes(of: path, bytesMax: TokenFile.bytesMax)
        }
        let now = Int64(time(nil)) * 1000
        // An invalid file is also read once.
        for _ in 0..<3 { #expect(throws: TokenReader.Failure.self) { try reader.read(at: now + 60_000) } }
        #expect(count == 1)
        try folder.write("tokens.json", #"{"tokens":[{"name":"alice","role":"operate","sha256":"\#(hash)"}]}"#)
        for _ in 0..<3 { #expect(try reader.read(at: now + 60_000).tokens.count == 1) }
        #expect(count == 2)
        // Each request checks the mode.
        chmod(path, 0o666)
        #expect(throws: TokenReader.Failure.self) { try reader.read(at: now + 60_000) }
    }

    @Test func `A file of tokens that has just changed is read each time`() throws {
        let folder = try TemporaryDirectory("tokens")
        let path = try folder.write("tokens.json", #"{"tokens":[]}"#)
        chmod(path, 0o644)
        var count = 0
        let reader = TokenReader(path: path) { path in
            count += 1
            return try FileReader.bytes(of: path, bytesMax: TokenFile.bytesMax)
        }
        for _ in 0..<3 { _ = try reader.read(at: Int64(time(nil)) * 1000) }
        #expect(count == 3)
    }

    // MARK: Refusals

    @Test func `A flood of one source displaces no record of another, and is counted`() {
        var counts = RefusalCounts()
        let unknown = (0..<100).count { _ in counts.admits(.unknown, at: .at(0)) }
        #expect(unknown == RefusalCounts.burst)
        let operators = (0..<10).count { _ in counts.admits(.operators, at: .at(0)) }
        #expect(operators == 10)
        counts.omit(.foreign)
        let omitted = counts.takeOmitted()
        let later = counts.takeOmitted()
        #expect(omitted.map(\.source) == [.unknown, .foreign] && omitted.map(\.count) == [80, 1])
        #expect(later.isEmpty && counts.omitted.isEmpty)
    }

    // MARK: Proxies

    private func read(_ headers: [(String, String)], isFromProxy: Bool = true) -> ProxyHeaders.Reading {
        ProxyHeaders.read(headers.map { (name: $0.0, value: $0.1) }, isFromProxy: isFromProxy)
    }

    @Test func `A proxy names the operator and the groups`() {
        let found = read([("host", "x"), ("x-forwarded-user", "alice"), ("x-forwarded-groups", "ops, dev")])
        #expect(found == .present(ProxyHeaders(user: "alice", groups: ["ops", "dev"])))
        let headers = ProxyHeaders(user: "alice", groups: ["ops", "dev"])
        #expect(headers.role(in: ["ops": .view, "dev": .operate, "x": .admin]) == .operate)
        // Neither a part of a name nor another case matches.
        #expect(headers.role(in: ["op": .admin, "OPS": .admin, "ops.*": .admin, "devs": .admin]) == nil)
    }

    @Test(arguments: [
        [("x-forwarded-user", "alice"), ("x-forwarded-user", "bob")],
        [("x-forwarded-user", "alice"), ("x_forwarded_user", "bob")],
        [("x_forwarded_user", "alice")], [("x-forwarded_user", "alice")],
        [("x-forwarded-user", "alice"), ("x_forwarded_groups", "admins")],
        [("x-forwarded-user", "alice"), ("x-forwarded-groups", "a"), ("x-forwarded-groups", "b")],
        [("x-forwarded-groups", "admins")], [("x-forwarded-user", "")], [("x-forwarded-user", "a\u{202E}b")],
        [("x-forwarded-user", String(repeating: "a", count: 201))],
    ])
    func `Ambiguous headers are refused`(headers: [(String, String)]) {
        guard case .forged = read(headers) else {
            Issue.record("accepted: \(headers)")
            return
        }
    }

    @Test func `Only the proxy may set the headers`() {
        #expect(read([("x-forwarded-for", "1.2.3.4")], isFromProxy: false) == .absent)
        guard case .forged = read([("x-forwarded-user", "alice")], isFromProxy: false) else {
            Issue.record("accepted")
            return
        }
    }
}
