import APNS
import APNSProtocol
import BrokerTopology
import Delivery
import EventLoop
import Glibc
import JSON
import TestKit
import Testing
import YAML

@testable import Configuration
@testable import MartletCLI

/// The findings and lines of `martlet doctor`.
@Suite struct DoctorTests {
    @Test(arguments: [
        (PushAnswer(status: 400, reason: .badDeviceToken), APNsFinding.accepted("BadDeviceToken"), DoctorLine.State.ok),
        (PushAnswer(status: 410, reason: .unregistered), .accepted("Unregistered"), .ok),
        (PushAnswer(status: 200), .acceptsAnyDevice, .warning),
        (PushAnswer(status: 403, reason: .expiredProviderToken), .clock, .failure),
        (PushAnswer(status: 403, reason: .invalidProviderToken), .credential("InvalidProviderToken"), .failure),
        (
            PushAnswer(status: 403, reason: .badEnvironmentKeyIDInToken), .environment("BadEnvironmentKeyIdInToken"),
            .failure
        ),
        (PushAnswer(status: 400, reason: .topicDisallowed), .topic("TopicDisallowed"), .failure),
        (PushAnswer(status: 429, reason: .tooManyProviderTokenUpdates), .tokensTooOften, .warning),
        (PushAnswer(status: 503, reason: .serviceUnavailable), .failed("503 ServiceUnavailable"), .failure),
        (PushAnswer(status: 403, isFromAPNS: false), .foreignResponse(403), .failure),
    ])
    func responsesOfAPNsBecomeFindings(answer: PushAnswer, finding: APNsFinding, state: DoctorLine.State) {
        let found = APNsFinding(.answered(answer), reason: nil)
        #expect(found == finding)
        let line = found.line(
            app: "com.example.app", credential: .key(id: "ABC123DEFG", team: "DEF123GHIJ"), place: "apns:443")
        #expect(line.state == state)
        #expect(line.remedy.isEmpty == (state == .ok))
    }

    @Test func aBrokerThatAllowsTooFewChannelsFails() {
        let line = DoctorCheck.tooFewChannels("rabbit:5672", 1, needed: 2)
        #expect(line.state == .failure && line.remedy.contains("channel_max = 2"))
    }

    @Test func missingResponsesBecomeFindings() {
        let refused = TransportError(.refused, "apns:443: Connection refused")
        let finding = APNsFinding(.notSent(.noConnection), reason: refused)
        #expect(finding == .unreachable(refused) && finding.isOfAllApps)
        #expect(
            finding.line(app: "a", credential: .certificate("k"), place: "apns:443").text
                == "apns:443: Connection refused")
        let late = APNsFinding(.unknown(.timedOut), reason: nil)
        #expect(late == .unanswered && late.isOfAllApps)
    }

    @Test func deliveryLimitsAreReportedByQueue() {
        let topology = Topology()
        var snapshot = BrokerSnapshot()
        snapshot.version = BrokerVersion(4, 1)
        snapshot.queues["push.requests"] = .init(policy: ["delivery-limit": "-1"])
        snapshot.queues["push.dead"] = .init(policy: ["delivery-limit": "5"], policyName: "mine")
        let lines = DoctorCheck.lines(snapshot, topology, TopologyAdvice(virtualHost: "/"))
        #expect(lines.map(\.state) == [.ok, .warning])
        #expect(lines[0].text == "none on push.requests")
        #expect(
            lines[1].text == "push.dead: RabbitMQ 4.1 removes a message that was requeued 5 times (policy mine)")
        #expect(lines[1].remedy == #"set "delivery-limit": -1 in policy mine"#)
    }

    /// Each remedy changes the source of the limit.
    @Test(arguments: [
        (
            "4.0", nil, [:], "", "",
            "run martlet topology apply, which sets a policy; without the management API, print the "
                + "command: martlet topology print --format rabbitmqctl --broker 4.0"
        ),
        (
            "4.0", nil, [:], "push-deliveries", "",
            "run martlet topology apply, which sets a policy; without the management "
                + "API, print the command: martlet topology print --format rabbitmqctl --broker 4.0"
        ),
        (
            "4.0", nil, [:], "", "cap",
            "run martlet topology apply, which sets a policy; without the management API, print "
                + "the command: martlet topology print --format rabbitmqctl --broker 4.0"
        ),
        (
            "4.0", nil, [:], "mine", "cap",
            #"set "delivery-limit": -1 in policy mine, which RabbitMQ applies to the queue "#
                + "instead of push-deliveries"
        ),
        ("4.0", "-1", ["delivery-limit": "20"], "mine", "cap", #"set "delivery-limit": -1 in policy mine+cap"#),
        (
            "4.0", "7", ["delivery-limit": "-1"], "push-deliveries", "",
            "a broker cannot change an existing queue: drain the queue, run "
                + "rabbitmqctl delete_queue -p '/' --if-empty 'push.dead', then run martlet topology apply again"
        ),
        ("3.13", nil, ["delivery-limit": "5"], "mine", "", "remove delivery-limit from policy mine"),
        (
            "3.13", "-1", [:], "mine", "",
            "a broker cannot change an existing queue: drain the queue, run rabbitmqctl delete_queue -p "
                + "'/' --if-empty 'push.dead', then run martlet topology apply again"
        ),
    ])
    func aRemedyChangesWhatSetsTheLimit(
        version: String, argument: String?, policy: [String: String], user: String, ofOperator: String, remedy: String
    ) {
        var snapshot = BrokerSnapshot()
        snapshot.version = BrokerVersion(version)
        var queue = BrokerSnapshot.Queue(policy: policy, policyName: user, operatorPolicyName: ofOperator)
        queue.arguments["x-delivery-limit"] = argument
        snapshot.queues["push.dead"] = queue
        let lines = DoctorCheck.lines(snapshot, Topology(), TopologyAdvice(virtualHost: "/"))
        #expect(lines.map(\.remedy) == [remedy])
    }

    /// Without statistics, the management API does not show the effect of policies. Only a limit in the arguments is
    /// certain.
    @Test(arguments: [
        ("3.10", nil, "unseen"), ("3.10", "-1", "failure"), ("4.0", nil, "unseen"), ("4.0", "-1", "unseen"),
        ("4.0", "7", "warning"),
    ])
    func disabledStatisticsHideLimits(version: String, argument: String?, state: String) {
        var snapshot = BrokerSnapshot()
        snapshot.version = BrokerVersion(version)
        snapshot.showsStatistics = false
        var queue = BrokerSnapshot.Queue(isPolicySeen: false)
        queue.arguments["x-delivery-limit"] = argument
        snapshot.queues["push.dead"] = queue
        let lines = DoctorCheck.lines(snapshot, Topology(), TopologyAdvice(virtualHost: "/"))
        #expect(lines.map(\.state.rawValue) == [state])
        #expect(!snapshot.mayShowFormerLimits(of: Topology()))
        guard state == "unseen" else { return }
        #expect(
            lines[0].text
                == "push.dead: the management API does not show effective policies: the statistics are disabled "
                + "(management.disable_stats)")
        #expect(lines[0].remedy.hasSuffix("rabbitmqctl list_queues -p '/' name arguments effective_policy_definition"))
    }

    @Test(arguments: [(0, "ok"), (-10, "ok"), (11, "warning"), (-600, "warning"), (601, "failure"), (-4000, "failure")])
    func clocks(secondsAhead: Int64, state: String) {
        #expect(DoctorCheck.line(secondsAhead: secondsAhead).state.rawValue == state)
    }

    @Test func aSlowClockIsReported() {
        #expect(DoctorCheck.line(secondsAhead: -4000).text == "this machine's clock is 4000 s behind the broker's")
    }

    @Test(arguments: [
        (UInt32(0o100600), DoctorLine.State.ok), (0o100640, .ok), (0o100644, .warning), (0o100602, .warning),
    ])
    func permissionsOfAKeyFile(mode: UInt32, state: DoctorLine.State) {
        #expect(DoctorCheck.line("key", file: "a.p8", mode: mode).state == state)
    }

    @Test(
        arguments: [
            (ReadFile.Content.secret, UInt32(0o100640), nil), (.secret, 0o100644, "can read a secret in a (mode 644)"),
            (.secret, 0o100642, "can change a (mode 642)"), (.other, 0o100644, nil),
            (.other, 0o100646, "can change a (mode 646)"), (.key, 0o100666, nil),
        ] as [(ReadFile.Content, UInt32, String?)])
    func `Permissions of other users for a file are reported`(content: ReadFile.Content, mode: UInt32, text: String?) {
        let lines = ReadFile(path: "a", content: content).warnings(mode: mode)
        #expect(lines.map(\.text) == (text.map { ["any user on this machine \($0)"] } ?? []))
        #expect(lines.allSatisfy { $0.remedy.contains(content == .secret ? "then run: chmod o= " : "run: chmod o-w ") })
    }

    @Test(arguments: [(UInt32(0), UInt32(7), true), (7, 7, true), (8, 7, false), (8, 0, true)])
    func `A foreign owner of a file is reported`(owner: UInt32, user: UInt32, isSafe: Bool) {
        #expect((ReadFile.warning(path: "/a", owner: owner, user: user) == nil) == isSafe)
    }

    @Test(arguments: [(UInt32(0o40755), true), (0o41777, true), (0o40777, false), (0o40757, false), (0o40775, true)])
    func `Permissions of other users for a folder are reported`(mode: UInt32, isSafe: Bool) {
        #expect((ReadFile.warning(folder: "/a", mode: mode) == nil) == isSafe)
    }

    @Test(
        arguments: [
            ("amqp: {url: \"amqp://a:b@c\"}", true, []), ("amqp: {url: \"amqp://a@c\"}", false, []),
            ("amqp: {url: \"amqp://a:${B}@c\", password: \"${B}\"}", false, []),
            ("amqp: {password: x}", true, []), ("amqp: {password: \"file:x\", tls: {key_file: y}}", false, ["x", "y"]),
            ("apns: {keys: [{private_key: x}, {key_file: \"${DIR}/k\"}]}", true, ["/d/k"]),
            ("registrations: {keys_file: k, password_file: p}", false, ["k", "p"]),
            ("apns: {proxy: \"http://a:b@c\"}", true, []), ("apps: {a: }", false, []),
        ] as [(String, Bool, Set<String>)])
    func `Secrets in a configuration and its files are found`(text: String, isInText: Bool, files: Set<String>) throws {
        let places = SecretPlaces(try YAMLDocument(Array(text.utf8)).root) { $0.replacing("${DIR}", with: "/d") }
        #expect(places.isInText == isInText && places.files == files)
    }

    @Test func `Files and folders that others may change or read are named`() async throws {
        let directory = try TemporaryDirectory("doctor")
        let folder = directory.file("open")
        try #require(mkdir(folder, 0o700) == 0)
        let config = try directory.write(
            "martlet.yaml", "amqp: {url: \"amqp://rabbit\", password: \"file:open/password\"}\n")
        let password = try directory.write("open/password", "s3cret")
        func lines() async throws -> [DoctorLine] {
            try await onEpollLoop { loop in await DoctorCheck.files.lines(DoctorContext(config), on: loop) }
        }
        for path in [config, password] { try #require(chmod(path, 0o640) == 0) }
        #expect(try await lines().map(\.state) == [.ok])
        for (path, mode) in [(config, 0o646), (password, 0o644), (folder, 0o757)] as [(String, mode_t)] {
            try #require(chmod(path, mode) == 0)
        }
        let found = try await lines()
        #expect(found.map(\.state) == [.warning, .warning, .warning])
        for (line, name) in zip(found, ["martlet.yaml", "open/password", "open"]) {
            #expect(line.text.contains("/\(name) (mode"), "\(line.text)")
            #expect(!line.text.contains("s3cret"))
        }
    }

    @Test func aMissingKeyFileAndAKeyWithoutFile() {
        #expect(DoctorCheck.line("key", file: "a.p8", mode: nil).state == .failure)
        #expect(DoctorCheck.line("key", file: nil, mode: nil).state == .ok)
    }

    @Test func presentObjectsShareOneLineAndMissingOnesHaveOneEach() {
        let lines = DoctorCheck.lines([
            TopologyFinding(subject: "queue a", state: .present), TopologyFinding(subject: "queue b", state: .present),
            TopologyFinding(subject: "queue c", state: .missing, advice: "apply"),
            TopologyFinding(subject: "queue d", state: .differs, advice: "migrate"),
            TopologyFinding(subject: "bindings", state: .unseen, advice: "configure"),
        ])
        #expect(lines.map(\.state) == [.ok, .failure, .warning, .unseen])
        #expect(lines[0].text == "2 objects ok")
        #expect(lines[1] == .failure("topology", "queue c is missing", remedy: "apply"))
        let missing = (1...5).map { TopologyFinding(subject: "queue \($0)", state: .missing, advice: "apply") }
        #expect(
            DoctorCheck.lines(missing).map(\.text) == ["5 objects are missing: queue 1, queue 2, queue 3 and 2 more"])
    }

    @Test func aLineHasATextAndAJSONForm() throws {
        let line = DoctorLine.warning("keys", "a \u{1B}key", remedy: "do it")
        let indent = String(repeating: " ", count: 26)
        #expect(line.shown(hasColors: false) == "warning  keys             a \u{FFFD}key\n\(indent)→ do it")
        let json = try JSONDocument(line.json).root
        #expect(json["state"]?.string == "warning" && json["remedy"]?.string == "do it")
        #expect(DoctorCommand.summary([.ok: 2, .failure: 1]) == "2 ok, 0 warnings, 1 failure, 0 not checked")
    }

    @Test func aSlowCheckTimesOut() async throws {
        let check = DoctorCheck(name: "slow", secondsMax: 1) { _, loop, _ in
            await loop.sleep(for: .milliseconds(1100))
            return [.ok("slow", "late")]
        }
        let lines = try await onEpollLoop { loop in
            let lines = await check.lines(DoctorContext("/nowhere.yaml"), on: loop)
            // Lines that arrive after the timeout are ignored.
            await loop.sleep(for: .milliseconds(300))
            return lines
        }
        #expect(lines.map(\.state) == [.failure])
        #expect(lines[0].text == "no result within 1 s")
    }

    @Test func linesBeforeTheTimeoutAreKeptAndWritten() async throws {
        let check = DoctorCheck(name: "slow", secondsMax: 1) { _, loop, findings in
            await findings.collect(["one", "two", "three"]) { index in
                if index < 2 { await loop.sleep(for: .milliseconds(1100 + 100 * index)) }
                findings.found(.ok("slow", "\(index)"))
            }
            return [.ok("slow", "late")]
        }
        let (lines, written, soon) = try await onEpollLoop { loop in
            var written: [DoctorLine] = []
            var (isLate, soon) = (false, false)
            loop.schedule(after: .milliseconds(500)) { isLate = true }
            let lines = await check.lines(DoctorContext("/nowhere.yaml"), on: loop) { line in
                // The line is written long before the timeout.
                if line.state == .ok { soon = !isLate }
                written.append(line)
            }
            await loop.sleep(for: .milliseconds(300))
            return (lines, written, soon)
        }
        #expect(lines.map(\.text) == ["2", "no response from one, two within 1 s"])
        #expect(lines.map(\.state) == [.ok, .failure])
        #expect(written == lines && soon)
    }

    @Test func eachCheckHasATimeoutAndAName() {
        #expect(DoctorCheck.all.allSatisfy { $0.secondsMax > 0 && $0.name.count <= DoctorCheck.nameWidth })
        #expect(Set(DoctorCheck.all.map(\.name)).count == DoctorCheck.all.count)
    }
}
