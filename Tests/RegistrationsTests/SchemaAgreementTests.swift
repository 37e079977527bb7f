import APNSProtocol
import Crypto
import EventLoop
import JSON
import JSONSchema
import Registrations
import TestKit
import Testing

/// Tests that the reader of commands agrees with `schemas/registration.schema.json`, except for limits that a schema
/// cannot express.
@Suite struct SchemaAgreementTests {
    private static func examples(_ schema: String, _ verdict: String) throws -> [[UInt8]] {
        let folder = Products.file("schemas/examples/\(schema)/\(verdict)")
        return try Files.names(in: folder).filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }
            .map { try Files.bytes(of: "\(folder)/\($0)") }
    }

    private static func validator(_ text: [UInt8]) throws -> SchemaValidator {
        SchemaValidator(try CompiledSchema(JSONDocument(text)))
    }

    private static func read(_ body: [UInt8]) throws(CommandViolation) -> ReceivedCommand {
        try ReceivedCommand(body, messageID: UUIDValue(high: 1, low: 2), from: .queue, now: RegistrationModel.start) {
            _, environment in environment ?? .production
        }
    }

    /// Returns the difference between reader and schema; nil if they agree.
    private static func difference(_ body: [UInt8], _ validator: SchemaValidator) throws -> String? {
        let violations = validator.violations(in: try JSONDocument(body).root)
        do throws(CommandViolation) {
            _ = try read(body)
        } catch {
            guard error.violationClass == .schema else {
                return violations.isEmpty ? nil : "the reader reports \(error.violationClass) \(error.code)"
            }
            let keywords = violations.map(\.keyword)
            return keywords.contains(error.code) ? nil : "\(error.code) \(error.path ?? "") is not among \(keywords)"
        }
        return violations.isEmpty ? nil : "the schema reports \(violations.map(\.description))"
    }

    @Test func `The embedded schemas are those of the folder`() throws {
        for (name, text) in [
            ("registration", RegistrationSchemas.commandText), ("registration-event", RegistrationSchemas.eventText),
            ("registration-reply", RegistrationSchemas.replyText),
        ] {
            #expect(text == (try Files.bytes(of: Products.file("schemas/\(name).schema.json"))))
        }
    }

    @Test func `Both agree on all examples`() throws {
        let validator = try Self.validator(RegistrationSchemas.commandText)
        for body in try Self.examples("registration", "valid") {
            #expect(throws: Never.self) { try Self.read(body) }
            #expect(try Self.difference(body, validator) == nil)
        }
        for body in try Self.examples("registration", "invalid") {
            let violation = #expect(throws: CommandViolation.self) { try Self.read(body) }
            #expect(violation?.violationClass == .schema)
            #expect(try Self.difference(body, validator) == nil)
        }
    }

    @Test func `Both agree on mutations of the examples`() throws {
        let validator = try Self.validator(RegistrationSchemas.commandText)
        let bodies = try Self.examples("registration", "valid") + Self.examples("registration", "invalid")
        let commands = try bodies.map { try Self.members(of: $0) }
        var random = SeededRandom(seed: 51)
        var validCount = 0
        for number in 0..<10_000 {
            var command = commands[random.below(commands.count)]
            for _ in 0...random.below(3) { Self.mutate(&command, with: commands, &random) }
            let body = Self.body(of: command)
            validCount += validator.violations(in: try JSONDocument(body).root).isEmpty ? 1 : 0
            guard let difference = try Self.difference(body, validator) else { continue }
            Issue.record("mutation \(number), \(difference): \(String(decoding: body, as: UTF8.self))")
            return
        }
        #expect(validCount > 500)
    }

    @Test func `Random bytes in a command never trap`() throws {
        let bodies = try Self.examples("registration", "valid")
        var random = SeededRandom(seed: 52)
        for _ in 0..<20_000 {
            var body = bodies[random.below(bodies.count)]
            for _ in 0...random.below(4) {
                switch random.below(4) {
                case 0: body.removeSubrange(random.below(body.count)...)
                case 1: body.insert(UInt8(random.below(256)), at: random.below(body.count + 1))
                case 2 where !body.isEmpty: body.remove(at: random.below(body.count))
                case 3 where !body.isEmpty: body[random.below(body.count)] = UInt8(random.below(256))
                default: break
                }
                if body.isEmpty { body = [UInt8(ascii: "{")] }
            }
            _ = try? Self.read(body)
        }
    }

    @Test func `Events and replies follow their schemas`() throws {
        let identities = [
            RegistrationIdentity(token: "0a", user: "ann"),
            RegistrationIdentity(token: "0a", user: "ann\u{202E}\"", deviceID: "phone", scope: "activity"),
        ]
        let refusal = APNSRefusal(status: 410, reason: "Unregistered", timestamp: RegistrationModel.start)
        let changes: [RegistrationEvent.Change] = [
            .pruned(refusal), .moved(newUser: "bob"), .replaced, .evicted, .expired, .suspended(refusal), .erased,
        ]
        let events = try Self.validator(RegistrationSchemas.eventText)
        for change in changes {
            for identity in identities {
                let event = RegistrationEvent(
                    change, app: RegistrationModel.app, environment: .sandbox, kind: .liveactivity, identity: identity,
                    registeredAt: RegistrationModel.start)
                let document = try JSONDocument(event.body)
                #expect(events.violations(in: document.root).map(\.description) == [])
                #expect(document.root["event"]?.string == change.word)
                #expect(document.root["user"]?.string == identity.user)
            }
        }
        let replies = try Self.validator(RegistrationSchemas.replyText)
        let violation = CommandViolation(.limit, "registered_at", path: "/registered_at", "Too old.")
        var bodies = [RegistrationReply.body(violation)]
        for body in try Self.examples("registration", "valid") {
            let received = try Self.read(body)
            bodies += RegistrationReply.allCases.map { $0.body(to: received) }
        }
        for body in bodies {
            #expect(replies.violations(in: try JSONDocument(body).root).map(\.description) == [])
        }
    }
}

extension SchemaAgreementTests {
    private typealias Member = (key: String, value: String)

    private static func members(of body: [UInt8]) throws -> [Member] {
        try JSONDocument(body).root.members.map {
            ($0.key.string ?? "", String(decoding: $0.value.sourceBytes, as: UTF8.self))
        }
    }

    private static func body(of command: [Member]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        for member in command {
            json.key(member.key)
            json.raw(Array(member.value.utf8))
        }
        json.endObject()
        return json.bytes
    }

    /// Values within and beyond the limits of members, as JSON.
    private static let values =
        [
            "null", "true", "false", "0", "-1", "1.5", "410", "599", "600", "1e400", "1750000000000", "1.75e12",
            "999999999999", "1000000000000", "9999999999999", "10000000000000", "9223372036854775808", "[]", "{}",
            #""""#, #""a""#, #""0a""#, #""0A1""#, #""0a\n""#, #""a\n""#, #""a\u0000""#, #""a\u007f""#, #""a\u0085""#,
            #""a\u00a0""#, #""é""#, #""com.example_app""#, #""6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10""#,
            #""6A204BD8-94ae-4c1a-a6b3-2d3a6d9f2f1""#,
        ]
        + [100, 101, 128, 129, 200, 201, 256, 257, 400, 402].map { "\"\(String(repeating: "a", count: $0))\"" }
        + [
            RegistrationCommand.Word.allCases.map(\.rawValue), TokenKind.allCases.map(\.rawValue),
            DevicePlatform.allCases.map(\.rawValue), APNSEnvironment.allCases.map(\.rawValue),
        ].joined().map { "\"\($0)\"" }

    private static func mutate(
        _ command: inout [Member], with others: [[Member]], _ random: inout SeededRandom
    ) {
        let other = others[random.below(others.count)]
        let added = other[random.below(other.count)]
        let index = command.isEmpty ? nil : random.below(command.count)
        switch random.below(4) {
        case 0: if let index { command.remove(at: index) }
        case 1: if let index { command[index].value = values[random.below(values.count)] }
        case 2: if let index, random.chance(percent: 10) { command[index].key += "x" }
        default:
            command.removeAll { $0.key == added.key }
            command.append(added)
        }
    }
}
