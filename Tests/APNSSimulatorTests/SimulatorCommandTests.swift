import Crypto
import EventLoop
import Glibc
import HTTP2
import JSON
import Synchronization
import TLS
import TestKit
import Testing
import Threads

@testable import APNSSimulator

/// Tests of the command as a process, with TLS and signals.
@Suite struct SimulatorCommandTests {
    @Test func servesUntilItIsTerminated() async throws {
        let directory = try TemporaryDirectory("simulator")
        let simulator = try await ChildProcess([
            try Products.executable("apns-simulator"), "--listen", "127.0.0.1:0", "--write-demo",
            directory.file("demo"),
            "--ready-file", directory.file("ready"), "--record", directory.file("record"),
        ])
        let ready = try await simulator.output.line { $0.contains(#""event":"ready""#) }
        #expect(try text(directory.file("ready")) == ready + "\n")
        let announced = try JSONDocument(ready).root
        #expect(announced["production_port"] == nil)
        #expect(announced["team_id"]?.string == "DEMOTEAM01")
        #expect(announced["key_id"]?.string == "DEMOKEY001")
        #expect(announced["topic"]?.string == "com.example.app")
        let port = try #require(announced["port"]?.int.flatMap(UInt16.init(exactly:)))

        let pushed = try await push(
            port: port, authority: try text(directory.file("demo/ca.pem")),
            key: try text(directory.file("demo/AuthKey_DEMOKEY001.p8")))
        #expect(
            pushed == ["200 ", #"410 {"reason":"Unregistered","timestamp":T}"#, #"400 {"reason":"BadDeviceToken"}"#])

        simulator.send(signal: SIGUSR1)
        let counters = try await simulator.output.line { $0.contains(#""event":"counters""#) }
        #expect(try JSONDocument(counters).root["requests"]?.int == 3)
        let exit = try await simulator.terminate()
        #expect(exit.status == .exited(0))
        #expect(await simulator.output.allLines().count == 3)

        let record = try text(directory.file("record")).split(separator: "\n").map { try JSONDocument(String($0)) }
        #expect(record.map { $0.root["status"]?.int } == [200, 410, 400])
        #expect(record[0].root["apns_id"]?.string == "00000000-0000-4000-8000-000000000000")
        let hash = withBytes(#"{"aps":{"alert":"0"}}"#) { SHA256Value(of: $0).description }
        #expect(record[0].root["payload_sha256"]?.string == hash)
    }

    @Test func theDemonstrationCanBeReused() async throws {
        let directory = try TemporaryDirectory("simulator")
        let command = [try Products.executable("apns-simulator"), "--listen", "127.0.0.1:0"]
        let demo = directory.file("demo")
        let first = try await ChildProcess(command + ["--write-demo", demo])
        _ = try await first.output.line { $0.contains(#""event":"ready""#) }
        #expect(try await first.terminate().status == .exited(0))

        let second = try await ChildProcess(
            command + [
                "--state", "\(demo)/state.yaml", "--certificate", "\(demo)/server.pem", "--private-key",
                "\(demo)/server-key.pem",
            ])
        let ready = try JSONDocument(
            try await second.output.line { $0.contains(#""event":"ready""#) }
        ).root
        #expect(ready["team_id"] == nil)
        let pushed = try await push(
            port: try #require(ready["port"]?.int.flatMap(UInt16.init(exactly:))),
            authority: try text("\(demo)/ca.pem"), key: try text("\(demo)/AuthKey_DEMOKEY001.p8"))
        #expect(pushed.map { $0.prefix(3) } == ["200", "410", "400"])
        #expect(try await second.terminate().status == .exited(0))
    }

    @Test func theReadyFileOfAnEarlierRunIsRemoved() async throws {
        let directory = try TemporaryDirectory("simulator")
        let ready = try directory.write("ready", "of an earlier run")
        let (exit, _, _) = try await ChildProcess.run([
            Products.executable("apns-simulator"), "--listen", "203.0.113.1:1", "--ready-file", ready,
        ])
        #expect(exit.status == .exited(69))
        #expect(throws: ProcessError.self) { try directory.read("ready") }
    }

    // With a state file, `--write-demo` writes only the server's certificates.
    @Test func theDemonstrationDoesNotOverwriteAState() async throws {
        let directory = try TemporaryDirectory("simulator")
        let demo = directory.file("demo")
        let command = [try Products.executable("apns-simulator"), "--listen", "127.0.0.1:0", "--write-demo", demo]
        for isFirst in [true, false] {
            let state = "\(demo)/state.yaml"
            if !isFirst { try TextFile.write(try text(state) + "# mine\n", to: state) }
            let simulator = try await ChildProcess(command + (isFirst ? [] : ["--state", state]))
            let ready = try JSONDocument(
                try await simulator.output.line { $0.contains(#""event":"ready""#) }
            ).root
            #expect((ready["key_file"] != nil) == isFirst && (ready["client_key_file"] != nil) == isFirst)
            #expect(try text(state).hasSuffix("# mine\n") != isFirst)
            let pushed = try await push(
                port: try #require(ready["port"]?.int.flatMap(UInt16.init(exactly:))),
                authority: try text("\(demo)/ca.pem"), key: try text("\(demo)/AuthKey_DEMOKEY001.p8"))
            #expect(pushed.map { $0.prefix(3) } == ["200", "410", "400"])
            #expect(try await simulator.terminate().status == .exited(0))
        }
    }

    @Test(arguments: [
        "localhost", "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
        "api-broadcast.push.apple.com", "api-broadcast.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com",
        "api-manage-broadcast.sandbox.push.apple.com",
    ])
    func theCertificateHasApplesHostNames(name: String) throws {
        let server = try Demonstration.make().server
        let names = try #require(
            try CertificateContents(pem: Array(server.certificatePEM.utf8)).extensions["2.5.29.17"])
        // Expect a dNSName of this length (RFC 5280, section 4.2.1.6).
        #expect(!names.ranges(of: [0x82, UInt8(name.utf8.count)] + name.utf8).isEmpty)
    }

    @Test func errorsOfTheStateFileHaveTheirLine() async throws {
        let directory = try TemporaryDirectory("simulator")
        for (text, message) in [
            ("teams:\n  - id: A\n    app: [x]\n", ":3:5: unknown member 'app' in a team; known: id, apps, keys"),
            ("teams: [", ":2:1: "),
            (
                "devices:\n  - {token: 12, app: a}\n",
                ":2:13: token must be a text of 1 to 400 bytes; write the value in quotes"
            ),
        ] {
            let file = try directory.write("state.yaml", text)
            let ended = try await ChildProcess.run(
                [try Products.executable("apns-simulator"), "--listen", "127.0.0.1:0", "--state", file])
            #expect(ended.exit.status == .exited(65))
            #expect(ended.errors.first?.hasPrefix("apns-simulator: \(file)\(message)") == true, "\(ended.errors)")
        }
    }

    @Test func faultsOfTheStateFileApply() async throws {
        let directory = try TemporaryDirectory("simulator")
        let demo = directory.file("demo")
        let command = [try Products.executable("apns-simulator"), "--listen", "127.0.0.1:0"]
        let first = try await ChildProcess(command + ["--write-demo", demo])
        _ = try await first.output.line { $0.contains(#""event":"ready""#) }
        #expect(try await first.terminate().status == .exited(0))
        let state = try directory.write(
            "demo/faulty.yaml",
            try text("\(demo)/state.yaml") + "faults:\n  - action: {answer: {reason: ServiceUnavailable}}\n")
        let second = try await ChildProcess(
            command + [
                "--state", state, "--certificate", "\(demo)/server.pem", "--private-key", "\(demo)/server-key.pem",
            ])
        let ready = try JSONDocument(
            try await second.output.line { $0.contains(#""event":"ready""#) }
        ).root
        let pushed = try await push(
            port: try #require(ready["port"]?.int.flatMap(UInt16.init(exactly:))),
            authority: try text("\(demo)/ca.pem"), key: try text("\(demo)/AuthKey_DEMOKEY001.p8"))
        #expect(pushed.map { $0.prefix(3) } == ["503", "503", "503"])
        #expect(try await second.terminate().status == .exited(0))
    }

    @Test func errorsHaveExitCodes() async throws {
        let directory = try TemporaryDirectory("simulator")
        let garbage = try directory.write("garbage", "no certificate")
        for (arguments, code) in [
            (["--nonsense"], 64), (["--certificate", garbage, "--private-key", garbage], 65),
            (["--certificate", directory.file("none"), "--private-key", garbage], 66),
            (["--listen", "203.0.113.1:1"], 69), (["--record", directory.file("no/record")], 73),
            (["--write-demo", garbage + "/demo"], 73), (["--ready-file", directory.file("no/ready")], 73),
            (["--admin", "192.0.2.1:1"], 69), (["--admin", "127.0.0.1:0", "--ready-file", directory.file("no/r")], 73),
        ] as [([String], Int32)] {
            let listen = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
            let ended = try await ChildProcess.run(
                [try Products.executable("apns-simulator")] + arguments + listen)
            #expect(ended.exit.status == .exited(code), "\(arguments)")
            #expect(ended.output.isEmpty)
            #expect(ended.errors.count == 1 && ended.errors[0].hasPrefix("apns-simulator: "), "\(ended.errors)")
        }
    }

    @Test func helpAndVersion() async throws {
        let command = try Products.executable("apns-simulator")
        let help = try await ChildProcess.run([command, "--help"])
        #expect(help.exit.status == .exited(0) && help.output.contains("Usage: apns-simulator [options]"))
        let version = try await ChildProcess.run([command, "--version"])
        #expect(version.exit.status == .exited(0) && version.output == ["apns-simulator 0.1.0"])
    }

    private func text(_ path: String) throws -> String { String(decoding: try TextFile.read(path), as: UTF8.self) }

    /// Sends three consecutive pushes over TLS: to an active, an unregistered and a bad device. Returns the answers,
    /// with `T` in place of each timestamp.
    private func push(port: UInt16, authority: String, key: String) async throws -> [String] {
        let context = try TLSContext(
            client: TLSClientConfiguration(
                trust: .pem(authority), applicationProtocols: ["h2"], requiresApplicationProtocol: true))
        let loop = try EpollLoop()
        let issuedAt = loop.now.unixSeconds
        let token = try Provider(teamID: "DEMOTEAM01", keyID: "DEMOKEY001").token(
            claims: #"{"iss":"DEMOTEAM01","iat":\#(issuedAt)}"#, signedBy: ES256PrivateKey(pem: key))
        let outcome = Outcome()
        await DetachedThread.run {
            loop.post {
                let pusher = Pusher(token: token) { answers in
                    outcome.answers.withLock { $0 = answers }
                    loop.stop()
                }
                pusher.session = HTTP2Client(loop: loop, delegate: pusher)
                let endpoint = Endpoint(host: "127.0.0.1", port: port)
                _ = TLSConnector(loop: loop, endpoint: endpoint, context: context).connect(pusher.session)
            }
            loop.run()
        }
        return outcome.answers.withLock { $0 }
    }

    private final class Outcome: Sendable {
        let answers = Mutex<[String]>([])
    }
}

/// A client that sends pushes to several devices consecutively, and then reports the answers.
private final class Pusher: ProviderClient {
    private var devices = ["aa", "deadaa", "badbad"]
    private var texts: [String] = []
    private let done: ([String]) -> Void

    init(token: String, done: @escaping ([String]) -> Void) {
        self.done = done
        super.init(token: token)
    }

    override func settingsReceived(_ settings: HTTP2Settings) {
        super.settingsReceived(settings)
        if streamsMax.count == 1 { pushNext() }
    }

    override func streamEnded(_ stream: HTTP2Stream, _ end: StreamEnd) {
        super.streamEnded(stream, end)
        let answer = answers[stream.id] ?? Answer()
        let body = answer.body.replacing(/"timestamp":[0-9]{13}/, with: #""timestamp":T"#)
        texts.append("\(answer.status) \(body)")
        pushNext()
    }

    override func closed(_ error: TransportError?) {
        super.closed(error)
        if texts.count < 3 { texts.append("closed: \(error?.message ?? "in order")") }
        done(texts)
    }

    private func pushNext() {
        guard !devices.isEmpty else { return session.abort() }
        let number = texts.count
        push(
            to: devices.removeFirst(), id: "00000000-0000-4000-8000-00000000000\(number)",
            body: #"{"aps":{"alert":"\#(number)"}}"#)
    }
}
