import APNSProtocol
import Crypto
import JSON
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of state files, with keys and certificates in other files.
@Suite struct StateFileTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory("state")
        try directory.write("key.pem", try ES256PrivateKey.generate().publicKeyPEM())
        try directory.write("secret.p8", try ES256PrivateKey.generate().pkcs8PEM())
        let authority = try CertificateAuthority.make(name: "Tests")
        let issued = try authority.issueClient(name: "Apple Push Services", userID: "com.example.app")
        try directory.write("client.pem", issued.privateKeyPEM + issued.certificatePEM)
    }

    private func read(_ text: String) throws(SimulatorError) -> StateDocument {
        try StateFile(path: directory.file("state.yaml"), sinceMilliseconds: 5).read(Array(text.utf8))
    }

    private func condition(_ token: String, in state: SimulatorState) -> DeviceCondition {
        withBytes(token) { state.condition(ofToken: $0, bundleID: "com.example.app", in: .sandbox) }
    }

    private static let wholeFile = """
        # Most members of a state file.
        teams:
          - id: TEAM000001
            apps:
              - com.example.app
              - {bundle_id: com.example.live, broadcast: true}
            keys:
              - {id: KEY0000001, public_key_file: key.pem}
              - {id: KEY0000002, public_key_file: key.pem, environments: [production], revoked: true}
              - {id: KEY0000003, public_key_file: key.pem, topics: [com.example.app], related_key: KEY0000004}
              - {id: KEY0000004, public_key_file: key.pem, topics: [com.example.app]}
            certificates:
              - {certificate_file: client.pem, revoked: true}
          - id: TEAM000002
        devices:
          - {token: AA01, app: com.example.app}
          - {token: aa02, app: com.example.app, state: unregistered, since_ms: 77}
          - {token: aa03, app: com.example.app, state: expired}
          - {token: aa04, app: com.example.app, environment: production}
          - {token: aa05, app: com.example.other}
          - {token: "0123", app: com.example.app, state: bad}
        device_rules:
          - {prefix: bb, state: not_for_topic}
          - {prefix: "12", state: unregistered, since_ms: 3}
        unknown_devices: {state: expired, since_ms: 9}
        accept_unknown_topics: false
        channels:
          - {app: com.example.live, environment: production, id: dGVzdA==, storage_policy: 1}
          - {app: com.example.live, environment: sandbox, id: AAAA, storage_policy: 0}
        faults:
          - action: {latency: {median_ms: 20, p99_ms: 200}}
            share: 0.5
          - {id: gone, match: {device_prefix: dead}, action: {answer: {reason: Unregistered}}}
        rules:
          order: authentication-first
          gate: announce
          streams_max: 500
          token_updates: strict
          team_key_rotation: false
          device_requests_per_second_max: 10
          channel_requests_per_second_max: 20
          wrong_method: BadPath
          broadcast_expiration_required: true
          location_by_certificate: TopicDisallowed
          background_priority_10: accept
          malformed_payload: BadRequestPayload
          key_environment: BadEnvironmentKeyInToken
          token_future_seconds_max: 60
          accept_no_token: true

        """

    // The package's example file loads, and has the documented effects.
    @Test func theExample() throws {
        let path = Products.file("deploy/debian/apns-simulator.state.yaml")
        let document = try StateFile(path: path, sinceMilliseconds: 5).read()
        let state = document.state
        #expect(state.teamIDs == ["DEF123GHIJ"])
        #expect(state.key(id: "ABC123DEFG")?.environments == [.production, .sandbox])
        #expect(state.allowsBroadcasts(bundleID: "com.example.live"))
        #expect(condition("aa02", in: state) == .unregistered(sinceMilliseconds: 1_750_000_000_000))
        #expect(condition("bad1", in: state) == .bad)
        #expect(condition("cc01", in: state) == .active)
        #expect(state.allChannels.count == 1)
        #expect(document.faults.map(\.id) == ["gone", "slow"])
    }

    @Test func aWholeFile() throws {
        let document = try read(Self.wholeFile)
        let state = document.state
        #expect(state.teamIDs == ["TEAM000001", "TEAM000002"])
        #expect(state.allows(teamID: "TEAM000001", bundleID: "com.example.app", sinceGeneration: 99))
        #expect(!state.allows(teamID: "TEAM000002", bundleID: "com.example.app", sinceGeneration: 99))
        #expect(!state.allowsBroadcasts(bundleID: "com.example.app"))
        #expect(state.allowsBroadcasts(bundleID: "com.example.live"))
        #expect(state.key(id: "KEY0000001")?.environments == [.production, .sandbox])
        #expect(state.key(id: "KEY0000001")?.scope == .team)
        #expect(state.key(id: "KEY0000002")?.environments == [.production])
        #expect(state.key(id: "KEY0000002")?.isRevoked == true)
        #expect(state.key(id: "KEY0000003")?.scope == .topics(["com.example.app"], relatedKeyID: "KEY0000004"))
        #expect(state.key(id: "KEY0000004")?.scope == .topics(["com.example.app"], relatedKeyID: nil))
        let certificates = state.certificates(teamID: "TEAM000001")
        #expect(certificates.map(\.certificate.topics) == [["com.example.app"]])
        #expect(certificates.map(\.isRevoked) == [true])
        #expect(condition("aa01", in: state) == .active)
        #expect(condition("aa02", in: state) == .unregistered(sinceMilliseconds: 77))
        #expect(condition("aa03", in: state) == .expired(sinceMilliseconds: 5))
        #expect(condition("aa04", in: state) == .bad)
        #expect(condition("aa05", in: state) == .notForTopic)
        #expect(condition("0123", in: state) == .bad)
        #expect(condition("bb01", in: state) == .notForTopic)
        #expect(condition("1234", in: state) == .unregistered(sinceMilliseconds: 3))
        #expect(condition("cc01", in: state) == .expired(sinceMilliseconds: 9))
        #expect(
            state.allChannels == [
                Channel(
                    id: "dGVzdA==", bundleID: "com.example.live", environment: .production, storagePolicy: .newest),
                Channel(id: "AAAA", bundleID: "com.example.live", environment: .sandbox, storagePolicy: .none),
            ])
        #expect(document.faults.map(\.id) == ["fault-1", "gone"])
        let rules = state.rules
        #expect(rules.order == .authenticationFirst && rules.gate == .announce && rules.streamsMax == 500)
        #expect(rules.tokenUpdates == .strict && !rules.allowsTeamKeyRotation && rules.wrongMethodReason == .badPath)
        #expect(rules.requestsPerDeviceMax == 10 && rules.requestsPerChannelMax == 20)
        #expect(rules.demandsBroadcastExpiration && rules.locationByCertificateReason == .topicDisallowed)
        #expect(rules.backgroundImmediateReason == nil && rules.malformedPayloadReason == .badRequestPayload)
        #expect(rules.keyEnvironmentReason == .unknown("BadEnvironmentKeyInToken"))
        #expect(rules.futureTokenSecondsMax == 60 && rules.servesWithoutToken)
    }

    // A state from a file is written as JSON without file names. Reading the JSON gives the same state.
    @Test func writtenStatesReadBackUnchanged() throws {
        for text in [Self.wholeFile, "{}"] {
            let written = Self.text(of: try read(text))
            #expect(!written.contains("key.pem") && !written.contains("PRIVATE KEY"))
            let again = try StateCodec(sinceMilliseconds: 0).document.read(try JSONDocument(written).root)
            #expect(Self.text(of: again) == written)
        }
    }

    private static func text(of document: StateDocument) -> String {
        var json = JSONWriter()
        document.write(to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test func missingSwitchesHaveTheirDefaults() throws {
        let written = Self.text(of: try read("{}"))
        var defaults = JSONWriter()
        RuleOptions.codec.write(RuleOptions(), to: &defaults)
        #expect(written.contains(#""rules":"# + String(decoding: defaults.bytes, as: UTF8.self)))
    }

    @Test func anEmptyFileIsAnEmptyState() throws {
        let state = try read("{}").state
        #expect(condition("aa01", in: state) == .bad)
        #expect(!state.allows(teamID: "TEAM000001", bundleID: "com.example.app", sinceGeneration: 99))
    }

    @Test func keysCanBeInline() throws {
        let pem = try directory.read("key.pem").split(separator: "\n").map { "          \($0)\n" }.joined()
        let state = try read("teams:\n  - id: T\n    keys:\n      - id: K\n        public_key: |\n\(pem)").state
        #expect(state.key(id: "K")?.teamID == "T")
    }

    @Test func onlyStateFilesCanNameFiles() throws {
        let text = #"{"teams":[{"id":"T","keys":[{"id":"K","public_key_file":"/etc/passwd"}]}]}"#
        let document = try JSONDocument(text)
        let error = #expect(throws: InputError.self) {
            _ = try StateCodec(sinceMilliseconds: 0).document.read(document.root)
        }
        #expect(error?.message == "public_key_file is valid in state files only; pass the text as public_key")
    }

    @Test(arguments: [
        ("[]", ":1:1: a state must be an object"),
        ("a: [", ":2:1: "),
        (
            "\nteam: []",
            ":2:1: unknown member 'team' in a state; known: teams, devices, device_rules, unknown_devices, "
                + "accept_unknown_topics, channels, faults, rules, clock_offset_seconds; did you mean teams?"
        ),
        ("teams: {}", ":1:8: teams must be a list"),
        ("teams:\n - {}", ":2:4: id is missing in a team"),
        ("teams: [{id: 7}]", ":1:14: id must be a text of 1 to 64 bytes; write the value in quotes"),
        ("teams:\n - {id: T}\n - {id: T}", ":3:9: team T already exists"),
        ("teams: [{id: T, apps: [1]}]", ":1:24: an app must be a text of 1 to 255 bytes; write the value in quotes"),
        ("teams: [{id: T, apps: [a/b]}]", ":1:24: an app must be a bundle ID: at most 255 letters, digits"),
        ("teams: [{id: T, apps: [a, a]}]", ":1:27: app a already belongs to team T"),
        (
            "teams: [{id: T, apps: [{bundle_id: a, broadcasts: true}]}]",
            ":1:39: unknown member 'broadcasts' in an app; known:"
        ),
        ("teams: [{id: T, apps: [{bundle_id: a, broadcast: yes}]}]", ":1:50: broadcast must be true or false"),
        ("teams: [{id: T, keys: [{id: K}]}]", ":1:24: a key requires public_key or public_key_file"),
        (
            "teams: [{id: T, keys: [{id: K, public_key_file: x}]}]",
            ":1:49: public_key_file is invalid: cannot read "
        ),
        (
            "teams: [{id: T, keys: [{id: K, public_key_file: secret.p8}]}]",
            ":1:24: the public key file contains a block PRIVATE KEY instead of PUBLIC KEY"
        ),
        (
            "teams: [{id: T, keys: [{id: K, public_key_file: key.pem}, {id: K, public_key_file: key.pem}]}]",
            ":1:59: key K already exists"
        ),
        (
            "teams: [{id: T, keys: [{id: K, public_key_file: key.pem, environments: [producton]}]}]",
            ":1:73: an environment must be production or sandbox; did you mean production?"
        ),
        (
            "teams: [{id: T, keys: [{id: K, public_key_file: key.pem, environments: []}]}]",
            ":1:72: environments must be a list of at least one environment"
        ),
        (
            "teams: [{id: T, keys: [{id: K, public_key_file: key.pem, topics: []}]}]",
            ":1:66: topics must be a list of at least one bundle ID"
        ),
        (
            "teams: [{id: T, keys: [{id: K, public_key_file: key.pem, related_key: L}]}]",
            ":1:71: related_key requires topics"
        ),
        (
            "teams: [{id: T, certificates: [{certificate_file: key.pem}]}]",
            ":1:32: the certificate file contains a block PUBLIC KEY instead of CERTIFICATE"
        ),
        ("devices: [{token: xy, app: a}]", ":1:19: token must be an even number of hexadecimal digits"),
        (
            "devices: [{token: 1234, app: a}]",
            ":1:19: token must be a text of 1 to 400 bytes; write the value in quotes"
        ),
        ("devices: [{token: aa}]", ":1:11: app is missing in a device"),
        ("devices: [{token: aa, app: a}, {token: AA, app: b}]", ":1:32: device a…+1 already exists"),
        (
            "devices: [{token: aa, app: a, state: unregisterd}]",
            ":1:38: state must be active, unregistered, expired, bad or not_for_topic; did you mean unregistered?"
        ),
        (
            "devices: [{token: aa, app: a, state: bad, since_ms: 7}]",
            ":1:53: since_ms requires the state unregistered or expired"
        ),
        (
            "devices: [{token: aa, app: a, state: expired, since_ms: x}]",
            ":1:57: since_ms must be a whole number from 0 to 9223372036854775807"
        ),
        ("device_rules: [{prefix: q, state: bad}]", ":1:25: prefix must be hexadecimal digits"),
        ("device_rules: [{prefix: a}]", ":1:16: state is missing in a device rule"),
        ("unknown_devices: good", ":1:18: unknown_devices must be active"),
        ("accept_unknown_topics: 1", ":1:24: accept_unknown_topics must be true or false"),
        (
            "channels: [{app: a, environment: sandbox, id: '%%', storage_policy: 1}]",
            ":1:47: id must be base64 of at most 64"
        ),
        ("channels: [{app: a, environment: sandbox, id: AAAA}]", ":1:12: storage_policy is missing in a channel"),
        (
            "channels: [{app: a, environment: sandbox, id: AAAA, storage_policy: 2}]",
            ":1:69: storage_policy must be a whole number from 0 to 1"
        ),
        (
            "channels:\n - &a {app: a, environment: sandbox, id: AAAA, storage_policy: 1}",
            ":2:4: "
        ),
        ("faults: [{id: a, action: silence}, {id: a, action: silence}]", ":1:36: fault a already exists"),
        ("faults: [{action: silense}]", ":1:19: unknown action 'silense'; known:"),
        ("rules: {gat: off}", ":1:9: unknown member 'gat' in rules; known: order, gate,"),
        ("rules:\n  gate: of", ":2:9: gate must be enforce, announce or off; did you mean off?"),
        ("rules: {streams_max: 0}", ":1:22: streams_max must be a whole number from 1 to 4096"),
        (
            "rules: {wrong_method: Badpath}",
            ":1:23: wrong_method must be MethodNotAllowed or BadPath; did you mean BadPath?"
        ),
    ])
    func errorsContainTheirPosition(text: String, message: String) {
        let error = #expect(throws: SimulatorError.self) { _ = try read(text) }
        #expect(error?.message.hasPrefix(directory.file("state.yaml") + message) == true, "\(error?.message ?? "none")")
        #expect(error?.code == .badInput)
    }
}
