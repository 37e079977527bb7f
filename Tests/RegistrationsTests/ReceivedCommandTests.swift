import APNSProtocol
import Crypto
import Registrations
import TestKit
import Testing

@Suite struct ReceivedCommandTests {
    private static let now = RegistrationModel.start + 1_000_000
    private static let id = UUIDValue(high: 1, low: 2)

    private static func read(
        _ text: String, messageID: UUIDValue? = id, from source: ReceivedCommand.Source = .queue
    ) throws -> ReceivedCommand {
        try ReceivedCommand(Array(text.utf8), messageID: messageID, from: source, now: now) {
            app, environment throws(CommandViolation) in
            guard app == RegistrationModel.app else {
                throw CommandViolation(.app, "unknown", path: "/app", "No such app.")
            }
            return environment ?? .sandbox
        }
    }

    private static func register(_ more: String = "", at: Int64 = RegistrationModel.start, user: String = "ann")
        -> String
    {
        #"{"command":"register","app":"com.example.app","user":"\#(user)","device_token":"0A","registered_at":\#(at)"#
            + "\(more)}"
    }

    /// Expects that a text causes a violation, and that its sentence contains no secret.
    private func expect(
        _ text: String, _ violationClass: CommandViolation.Class, _ code: String, path: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let violation = #expect(throws: CommandViolation.self, sourceLocation: sourceLocation) { try Self.read(text) }
        #expect(
            violation?.violationClass == violationClass && violation?.code == code && violation?.path == path,
            sourceLocation: sourceLocation)
        for secret in ["secret", "ann", "0a", "0A"] {
            #expect(violation?.sentence.split(separator: " ").contains { $0.hasPrefix(secret) } == false)
        }
    }

    @Test func `A registration has defaults`() throws {
        let received = try Self.read(Self.register())
        #expect(received.id == Self.id)
        let address = TokenAddress(
            app: RegistrationModel.app, environment: .sandbox, kind: .device, scope: nil, token: "0a")
        #expect(
            received.command
                == .register(NewRegistration(address: address, user: "ann", registeredAt: RegistrationModel.start)))
    }

    @Test func `Each command is read as it is written`() throws {
        let voip = TokenAddress(
            app: RegistrationModel.app, environment: .production, kind: .voip, scope: nil, token: "0a0b")
        let control = TokenAddress(
            app: RegistrationModel.app, environment: .sandbox, kind: .controls, scope: "lamp", token: "0a0b")
        let refusal = APNSRefusal(status: 410, reason: "Unregistered", timestamp: RegistrationModel.start)
        let commands: [RegistrationCommand] = [
            .register(NewRegistration(address: voip, user: "ann", registeredAt: RegistrationModel.start)),
            .register(
                NewRegistration(
                    address: control, user: "ann", deviceID: "phone", platform: .visionos,
                    registeredAt: RegistrationModel.start, expiresAt: RegistrationModel.start + 1, isShared: true)),
            .unregister(.token(control), at: RegistrationModel.start), .unregister("ann", at: 1),
            .unregister("ann", device: "phone", at: 1), .erase("ann", at: 1),
            .erase("ann", app: RegistrationModel.app, at: 1),
            .prune(voip, refusal), .suspect(control, refusal),
        ]
        for command in commands {
            let received = try Self.read(String(decoding: command.body(id: Self.id), as: UTF8.self), messageID: nil)
            #expect(received.command == command && received.id == Self.id)
        }
    }

    @Test func `The id of the command has precedence over that of the message`() throws {
        let text = Self.register(#","id":"6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10""#)
        #expect("\(try Self.read(text).id)" == "6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10")
        let violation = #expect(throws: CommandViolation.self) { try Self.read(Self.register(), messageID: nil) }
        #expect(violation?.violationClass == .property && violation?.code == "message-id")
    }

    @Test func `Times are close to now, unless they are imported`() throws {
        let day: Int64 = 24 * 3_600_000
        #expect(throws: Never.self) { try Self.read(Self.register(at: Self.now + 5 * 60_000)) }
        expect(Self.register(at: Self.now + 5 * 60_000 + 1), .limit, "registered_at", path: "/registered_at")
        #expect(throws: Never.self) { try Self.read(Self.register(at: Self.now - 30 * day)) }
        expect(Self.register(at: Self.now - 30 * day - 1), .limit, "registered_at", path: "/registered_at")
        #expect(throws: Never.self) { try Self.read(Self.register(at: Self.now - 3000 * day), from: .import) }
        expect(Self.register(#","expires_at":\#(RegistrationModel.start)"#), .limit, "expires_at", path: "/expires_at")
        let prune =
            #"{"command":"prune","app":"com.example.app","device_token":"0a","status":410,"reason":"Unregistered","#
        #expect(throws: Never.self) { try Self.read(prune + #""timestamp":\#(Self.now - 300 * day)}"#) }
        expect(prune + #""timestamp":\#(Self.now + 300_001)}"#, .limit, "timestamp", path: "/timestamp")
    }

    @Test func `Texts have limits in bytes`() throws {
        #expect(throws: Never.self) { try Self.read(Self.register(user: String(repeating: "\u{E9}", count: 128))) }
        expect(Self.register(user: String(repeating: "\u{E9}", count: 129)), .limit, "user", path: "/user")
        expect(Self.register(user: String(repeating: "u", count: 257)), .schema, "maxLength", path: "/user")
        let device = String(repeating: "\u{E9}", count: 65)
        expect(Self.register(#","device_id":"\#(device)""#), .limit, "device_id", path: "/device_id")
        expect(Self.register(#","kind":"controls","scope":"\#(device)""#), .limit, "scope", path: "/scope")
        #expect(throws: Never.self) { try Self.read(Self.register(#","device_id":"\#(device.dropLast())""#)) }
    }

    @Test func `Violations have the class and code of requests`() {
        expect("", .json, "empty")
        expect("[]", .schema, "type", path: "")
        expect(#"{"command":"register","command":"erase"}"#, .json, "duplicate_key")
        expect(String(repeating: " ", count: ReceivedCommand.bytesMax + 1), .size, "message_bytes")
        expect(#"{"command":"erase","user":"secret"}"#, .schema, "required", path: "")
        expect(#"{"command":"erase","secret":1}"#, .schema, "additionalProperties", path: "")
        expect(#"{"command":"secret"}"#, .schema, "enum", path: "/command")
        expect(Self.register(#","kind":"liveactivity""#), .schema, "required", path: "")
        expect(Self.register(#","scope":"secret""#), .schema, "properties", path: "/scope")
        expect(Self.register().replacing("com.example.app", with: "other"), .app, "unknown", path: "/app")
        expect(
            #"{"command":"unregister","app":"other","user":"ann","registered_at":\#(RegistrationModel.start)}"#,
            .app, "unknown", path: "/app")
    }

    @Test func `An erasure also concerns apps that are not configured`() throws {
        let text = #"{"command":"erase","app":"other","user":"ann","registered_at":\#(RegistrationModel.start)}"#
        #expect(try Self.read(text).command == .erase(user: "ann", app: "other", at: RegistrationModel.start))
    }

    @Test func `A misspelled member has a hint`() {
        let violation = #expect(throws: CommandViolation.self) {
            try Self.read(Self.register(#","deviceid":"phone""#))
        }
        #expect(violation?.sentence.hasSuffix("; did you mean device_id?") == true)
    }
}
