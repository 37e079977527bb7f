import APNSProtocol
import Crypto
import JSON
import Testing

@testable import APNSSimulator

@Suite struct StateFileTests {
    private let keyPEM: String

    init() throws { keyPEM = try ES256PrivateKey.generate().publicKeyPEM() }

    private func read(_ text: String) throws(SimulatorError) -> SimulatorState {
        let document = try SimulatorError.telling(.badInput) { () throws(JSONError) in try JSONDocument(text) }
        return try StateFile(
            name: "state.yaml", sinceMilliseconds: 5, position: { document.position(of: $0) },
            readFile: { path throws(SimulatorError) in
                guard path == "key.pem" else { throw SimulatorError(.noInput, "cannot read \(path)") }
                return Array(keyPEM.utf8)
            }
        ).read(document.root)
    }

    private func condition(_ token: String, in state: SimulatorState) -> DeviceCondition {
        withBytes(token) { state.condition(ofToken: $0, bundleID: "com.example.app", in: .sandbox) }
    }

    @Test func aWholeFile() throws {
        let state = try read(
            """
            {"teams": [
                {"id": "TEAM000001", "apps": ["com.example.app"], "keys": [
                    {"id": "KEY0000001", "public_key_file": "key.pem"},
                    {"id": "KEY0000002", "public_key_file": "key.pem", "environments": ["production"], "revoked": true}]},
                {"id": "TEAM000002"}],
             "devices": [
                {"token": "AA01", "app": "com.example.app"},
                {"token": "aa02", "app": "com.example.app", "state": "unregistered", "since_ms": 77},
                {"token": "aa03", "app": "com.example.app", "state": "expired"},
                {"token": "aa04", "app": "com.example.app", "environment": "production"},
                {"token": "aa05", "app": "com.example.other"}],
             "device_rules": [{"prefix": "bb", "state": "not_for_topic"}],
             "unknown_devices": "active", "accept_unknown_topics": false}
            """)
        #expect(state.allows(teamID: "TEAM000001", bundleID: "com.example.app", sinceGeneration: 99))
        #expect(!state.allows(teamID: "TEAM000002", bundleID: "com.example.app", sinceGeneration: 99))
        #expect(state.key(id: "KEY0000001")?.environments == [.production, .sandbox])
        #expect(state.key(id: "KEY0000002")?.environments == [.production])
        #expect(state.key(id: "KEY0000002")?.isRevoked == true)
        #expect(condition("aa01", in: state) == .active)
        #expect(condition("aa02", in: state) == .unregistered(sinceMilliseconds: 77))
        #expect(condition("aa03", in: state) == .expired(sinceMilliseconds: 5))
        #expect(condition("aa04", in: state) == .bad)
        #expect(condition("aa05", in: state) == .notForTopic)
        #expect(condition("bb01", in: state) == .notForTopic)
        #expect(condition("cc01", in: state) == .active)
    }

    @Test func keysCanBeOfTopics() throws {
        let state = try read(
            #"""
            {"teams": [{"id": "T", "keys": [
                {"id": "A", "public_key_file": "key.pem", "topics": ["com.example.app"], "related_key": "B"},
                {"id": "B", "public_key_file": "key.pem", "topics": ["com.example.app"]}]}]}
            """#)
        #expect(state.key(id: "A")?.scope == .topics(["com.example.app"], relatedKeyID: "B"))
        #expect(state.key(id: "B")?.scope == .topics(["com.example.app"], relatedKeyID: nil))
    }

    @Test func anEmptyFileKnowsNothing() throws {
        let state = try read("{}")
        #expect(condition("aa01", in: state) == .bad)
        #expect(!state.allows(teamID: "TEAM000001", bundleID: "com.example.app", sinceGeneration: 99))
    }

    @Test func keysCanStandInTheFile() throws {
        let pem = keyPEM.replacing("\n", with: "\\n")
        let state = try read(#"{"teams": [{"id": "T", "keys": [{"id": "K", "public_key": "\#(pem)"}]}]}"#)
        #expect(state.key(id: "K")?.teamID == "T")
    }

    @Test(arguments: [
        (#"[]"#, "state.yaml:1:1: the file is a mapping"),
        (
            #"{"team": []}"#,
            "state.yaml:1:2: the file has no key team; it has teams, devices, device_rules, unknown_devices, accept_unknown_topics"
        ),
        (#"{"teams": {}}"#, "state.yaml:1:11: teams is a list"),
        ("{\"teams\":\n [{}]}", "state.yaml:2:3: a team has a text id"),
        (#"{"teams": [{"id": 7}]}"#, "state.yaml:1:19: a team has a text id; put it in quotes"),
        (#"{"teams": [{"id": "T", "apps": [1]}]}"#, "state.yaml:1:33: an app is a mapping"),
        (
            #"{"teams": [{"id": "T", "keys": [{"id": "K"}]}]}"#,
            "state.yaml:1:33: a key has either public_key or public_key_file"
        ),
        (#"{"teams": [{"id": "T", "keys": [{"id": "K", "public_key_file": "x"}]}]}"#, "cannot read x"),
        (
            #"{"teams": [{"id": "T", "keys": [{"id": "K", "public_key_file": "key.pem", "environments": ["beta"]}]}]}"#,
            "state.yaml:1:92: an environment is production or sandbox"
        ),
        (
            #"{"teams": [{"id": "T", "keys": [{"id": "K", "public_key_file": "key.pem", "environments": []}]}]}"#,
            "state.yaml:1:91: environments is a list of them"
        ),
        (
            #"{"devices": [{"token": "xy", "app": "a"}]}"#,
            "state.yaml:1:14: a device's token is an even number of hexadecimal digits"
        ),
        (#"{"devices": [{"token": "aa"}]}"#, "state.yaml:1:14: a device has a text app"),
        (
            #"{"devices": [{"token": "aa", "app": "a", "state": "gone"}]}"#,
            "state.yaml:1:51: a device's state is active, unregistered, expired, bad or not_for_topic"
        ),
        (
            #"{"devices": [{"token": "aa", "app": "a", "state": "bad", "since_ms": "x"}]}"#,
            "state.yaml:1:70: since_ms is milliseconds since 1970"
        ),
        (
            #"{"device_rules": [{"prefix": "q", "state": "bad"}]}"#,
            "state.yaml:1:19: a rule's prefix is hexadecimal digits"
        ),
        (#"{"device_rules": [{"prefix": "a"}]}"#, "state.yaml:1:19: a device rule has a state"),
        (#"{"accept_unknown_topics": 1}"#, "state.yaml:1:27: accept_unknown_topics is true or false"),
    ])
    func faultsNameTheirPlace(text: String, message: String) {
        let error = #expect(throws: SimulatorError.self) { _ = try read(text) }
        #expect(error?.message == message)
    }
}
