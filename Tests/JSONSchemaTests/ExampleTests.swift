import JSON
import JSONSchema
import TestKit
import Testing

/// The contract of `schemas/`, by its examples.
struct ExampleTests {
    @Test(arguments: files("schemas/examples/valid"))
    func valid(_ name: String) throws {
        let validator = try validator("notification")
        let document = try JSONDocument(try bytes(of: "schemas/examples/valid/\(name)"))
        #expect(validator.violations(in: document.root).map(\.description) == [])
    }

    @Test(arguments: files("schemas/examples/invalid").filter { !$0.hasSuffix(".expected.json") })
    func invalid(_ name: String) throws {
        let validator = try validator("notification")
        let document = try JSONDocument(try bytes(of: "schemas/examples/invalid/\(name)"))
        let expectation = "schemas/examples/invalid/\(name.dropLast(".json".count)).expected.json"
        let expected = try JSONDocument(try bytes(of: expectation)).root
        let violation = try #require(validator.firstViolation(in: document.root))
        #expect(violation.keyword == expected["keyword"]?.string)
        #expect(violation.instancePointer == expected["instance_pointer"]?.string)
        #expect(expected.count == 2)
    }

    @Test(arguments: ["notification", "result", "dead-letter", "channel-command", "config"])
    func schemasExplainThemselves(_ name: String) throws {
        let document = try JSONDocument(try bytes(of: "schemas/\(name).schema.json"))
        let schema = try CompiledSchema(document)
        #expect(schema.unknownKeywords == [])
        #expect(document.root["title"] != nil)
        #expect(document.root["description"] != nil)
        for (key, property) in try #require(document.root["properties"]).members {
            #expect(property["title"] != nil, "\(key.string ?? "")")
        }
        let validator = SchemaValidator(schema)
        for example in document.root["examples"]?.elements.map({ $0 }) ?? [] {
            #expect(validator.violations(in: example).map(\.description) == [])
        }
        for (key, property) in try #require(document.root["properties"]).members {
            guard let examples = property["examples"] else { continue }
            let validator = SchemaValidator(try CompiledSchema(try alone(property, in: document.root)))
            for example in examples.elements {
                #expect(validator.firstViolation(in: example) == nil, "\(key.string ?? "")")
            }
        }
    }

    @Test(
        arguments: [
            (
                #"{"outcome":"invalid","attempts":0,"possible_duplicate":false,"received_at":1,"finished_at":2,"#
                    + #""error":{"class":"json","code":"truncated","message":"…"}}"#, nil
            ),
            (
                #"{"outcome":"invalid","attempts":0,"possible_duplicate":false,"received_at":1,"finished_at":2}"#,
                "required"
            ),
            (#"{"outcome":"sent","attempts":0,"possible_duplicate":false,"received_at":1,"finished_at":2}"#, "enum"),
            (
                #"{"outcome":"accepted","attempts":1,"possible_duplicate":false,"received_at":1,"finished_at":2}"#,
                "required"
            ),
            (
                #"{"outcome":"expired","device_token":"aa","channel_id":"bb","attempts":1,"possible_duplicate":false,"#
                    + #""received_at":1,"finished_at":2}"#, "not"
            ),
        ] as [(String, String?)])
    func results(_ text: String, _ keyword: String?) throws {
        #expect(try validator("result").firstViolation(in: try JSONDocument(text).root)?.keyword == keyword)
    }

    @Test(
        arguments: [
            (#"{"push-reason-class":"apns","push-reason-code":"BadDeviceToken"}"#, "required"),
            (
                #"{"push-outcome":"rejected","push-reason-class":"apns","push-reason-code":"BadDeviceToken","push-reason":"…","#
                    + #""push-attempt":1,"push-possible-duplicate":false,"push-failed-at":1,"push-apns-status":400,"push-apns-id":"6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10"}"#,
                nil
            ),
            (
                #"{"push-outcome":"accepted","push-reason-class":"x","push-reason-code":"x","push-reason":"…","#
                    + #""push-attempt":1,"push-possible-duplicate":false,"push-failed-at":1}"#, "enum"
            ),
        ] as [(String, String?)])
    func deadLetters(_ text: String, _ keyword: String?) throws {
        #expect(try validator("dead-letter").firstViolation(in: try JSONDocument(text).root)?.keyword == keyword)
    }

    @Test(
        arguments: [
            (#"{"app":"a","command":"create","storage_policy":"none"}"#, nil), (#"{"app":"a","command":"list"}"#, nil),
            (#"{"app":"a","command":"read","channel_id":"aa=="}"#, nil),
            (#"{"app":"a","command":"create"}"#, "required"), (#"{"app":"a","command":"delete"}"#, "required"),
            (#"{"app":"a","command":"end"}"#, "enum"), (#"{"command":"list"}"#, "required"),
            (#"{"app":"a","command":"list","channel_id":"aa=="}"#, "properties"),
            (#"{"app":"a","command":"list","all":true}"#, "additionalProperties"),
        ] as [(String, String?)])
    func channelCommands(_ text: String, _ keyword: String?) throws {
        let violations = try validator("channel-command").violations(in: try JSONDocument(text).root)
        #expect(violations.contains { $0.keyword == keyword } == (keyword != nil))
        #expect(violations.isEmpty == (keyword == nil))
    }

    private func validator(_ name: String) throws -> SchemaValidator {
        SchemaValidator(try CompiledSchema(JSONDocument(try bytes(of: "schemas/\(name).schema.json"))))
    }

    /// A property's schema with the definitions that it refers to.
    private func alone(_ property: JSONValue, in schema: JSONValue) throws -> JSONDocument {
        var json = JSONWriter()
        json.beginObject()
        json.key("allOf")
        json.beginArray()
        json.raw(property.sourceBytes)
        json.endArray()
        if let definitions = schema["$defs"] {
            json.key("$defs")
            json.raw(definitions.sourceBytes)
        }
        json.endObject()
        return try JSONDocument(json.bytes)
    }
}

private func bytes(of path: String) throws -> [UInt8] { try Files.bytes(of: Products.file(path)) }

private func files(_ path: String) -> [String] {
    ((try? Files.names(in: Products.file(path))) ?? []).filter { $0.hasSuffix(".json") }
}
