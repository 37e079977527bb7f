import JSON
import JSONSchema
import TestKit
import Testing

/// The messages in the guides for producers, validated against their schemas.
struct GuideExampleTests {
    private static let folder = "Sources/Documentation/Producers"

    /// Returns the JSON blocks of a guide.
    private static func blocks(of page: String) throws -> [String] {
        let text = String(decoding: try Files.bytes(of: Products.file("\(folder)/\(page)")), as: UTF8.self)
        return text.split(separator: "```json\n").dropFirst().map { String($0.prefix { $0 != "`" }) }
    }

    /// Returns the name of the schema of a message; nil for other JSON.
    private static func schema(of message: JSONValue) -> String? {
        func has(_ names: String...) -> Bool { names.allSatisfy { message[key: $0] != nil } }
        if has("push_type", "payload") { return "notification" }
        if has("event", "kind") { return "registration-event" }
        if has("users_without_device") { return "fanout" }
        if has("command", "registered_at") { return "registration" }
        if has("command", "outcome") { return has("environment") ? "channel-reply" : "registration-reply" }
        if has("outcome", "attempts") { return "result" }
        return has("command") ? "channel-command" : nil
    }

    @Test(arguments: [
        ("Requests.md", ["notification"]), ("Results.md", ["result"]),
        ("Users.md", ["notification", "notification", "result", "fanout"]),
        (
            "Registrations.md",
            ["registration", "registration", "registration", "registration-reply", "registration-event"]
        ),
        ("Channels.md", ["channel-command", "channel-reply", "notification"]),
    ])
    func `The messages of a guide are valid`(_ page: String, _ schemas: [String]) throws {
        var found: [String] = []
        for block in try Self.blocks(of: page) {
            let document = try JSONDocument(block)
            let schema = try #require(Self.schema(of: document.root), "\(block)")
            found.append(schema)
            let validator = SchemaValidator(try CompiledSchema(ContractExample.document(of: schema)))
            #expect(validator.violations(in: document.root).map(\.description) == [], "\(block)")
        }
        #expect(found == schemas)
    }
}
