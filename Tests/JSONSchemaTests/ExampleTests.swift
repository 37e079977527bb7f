import JSON
import JSONSchema
import TestKit
import Testing

/// The validation of the contract's examples in `schemas/`.
struct ExampleTests {
    @Test(arguments: ContractExample.all("valid"))
    func valid(_ example: ContractExample) throws {
        let document = try example.document()
        #expect(try validator(example.schema).violations(in: document.root).map(\.description) == [])
    }

    @Test(arguments: ContractExample.all("invalid"))
    func invalid(_ example: ContractExample) throws {
        let expected = try example.expected()
        let document = try example.document()
        let violation = try #require(try validator(example.schema).firstViolation(in: document.root))
        #expect(violation.keyword == expected["keyword"]?.string)
        #expect(violation.instancePointer == expected["instance_pointer"]?.string)
        #expect(expected.count == 2)
    }

    @Test(arguments: ContractExample.schemas)
    func everySchemaHasExamples(_ schema: String) {
        for verdict in ["valid", "invalid"] {
            #expect(ContractExample.all(verdict).contains { $0.schema == schema }, "\(verdict)")
        }
    }

    /// A missing property does not make dependent properties required.
    @Test(arguments: [
        ("channel-command", #"{"app":"a"}"#, ["command"]),
        ("channel-command", #"{"app":"a","storage_policy":"none","channel_id":"aa=="}"#, ["command"]),
        (
            "result", #"{"attempts":0,"possible_duplicate":false,"received_at":1,"finished_at":2}"#, ["outcome"]
        ),
        (
            "dead-letter",
            #"{"push-outcome":"invalid","push-reason-code":"x","push-reason":"…","push-attempt":0,"#
                + #""push-possible-duplicate":false,"push-failed-at":1}"#, ["push-reason-class"]
        ),
        (
            "notification",
            #"{"app":"a","device_token":"aa","push_type":"liveactivity","payload":{"aps":{"timestamp":1}}}"#,
            ["event"]
        ),
    ])
    func oneMissingPropertyIsOneError(_ schema: String, _ text: String, _ missing: [String]) throws {
        let violations = try validator(schema).violations(in: try JSONDocument(text).root)
        #expect(violations.map(\.keyword) == ["required"])
        for name in missing { #expect(violations.first?.message.contains("\"\(name)\"") == true) }
    }

    /// The examples of dead letters contain the messages that the worker writes.
    @Test func examplesOfDeadLettersHaveTheWorkersMessage() throws {
        let shown = try #require(ContractExample.document(of: "dead-letter").root["examples"]).elements.map { $0 }
        let example = ContractExample(schema: "dead-letter", path: "dead-letter/valid/schema")
        for (letter, payload) in [
            (try #require(shown.first), ""), (try example.document().root, #","payload":{"aps":{"badge":"3"}}"#),
        ] {
            let request = try JSONDocument(#"{"app":"a","device_token":"aa","push_type":"alert"\#(payload)}"#)
            let violation = try #require(try validator("notification").firstViolation(in: request.root))
            #expect(letter["push-reason"]?.string == violation.description)
            #expect(letter["push-reason-code"]?.string == violation.keyword)
            #expect(letter["push-error-path"]?.string == violation.instancePointer)
        }
    }

    private func validator(_ name: String) throws -> SchemaValidator {
        SchemaValidator(try CompiledSchema(ContractExample.document(of: name)))
    }
}
