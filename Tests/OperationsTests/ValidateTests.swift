import Crypto
import Glibc
import JSON
import TestKit
import Testing

@testable import Operations

/// `martlet validate` and `martlet config check`, as processes.
@Suite(.timeLimit(.minutes(2))) struct ValidateTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("validate") }

    @Test func withoutASchemaDocumentsAreMessages() async throws {
        let valid = Products.file("schemas/examples/valid/alert.json")
        let invalid = Products.file("schemas/examples/invalid/badge-text.json")
        let fine = try await martlet("validate", valid)
        #expect(fine == Run(status: .exited(0), output: [#"{"valid":true}"#], errors: []))
        let run = try await martlet("validate", valid, invalid)
        #expect(run.status == .exited(1) && run.errors == [] && run.output.count == 2)
        let error = try #require(try JSONDocument(run.output[1]).root["errors"]?.elements.map { $0 }.first)
        #expect(error["keyword"]?.string == "type")
        #expect(error["instance_pointer"]?.string == "/payload/aps/badge")
        #expect(error["message"]?.string == "must be a whole number")
        #expect((error["line"]?.int ?? 0) > 1)
    }

    @Test func eachLineIsADocument() async throws {
        let schema = try folder.write("s.json", #"{"required":["a","b"],"properties":{"a":{"type":"string"}}}"#)
        let lines = try folder.write("lines", "{\"a\":\"\",\"b\":1}\n\n{\"a\":1}\n{\n[] x")
        let run = try await martlet("validate", "--schema", schema, "--lines", "--all-errors", lines)
        #expect(run.status == .exited(1))
        let results = try run.output.map { try JSONDocument($0).root }
        #expect(results.map { $0["valid"]?.bool } == [true, false, false, false])
        #expect(results[1]["errors"]?.elements.map { $0["line"]?.int } == [3, 3])
        #expect(results[1]["errors"]?.elements.map { $0["keyword"]?.string } == ["type", "required"])
        #expect(results[2]["errors"]?.elements.map { $0["code"]?.string } == ["truncated"])
        #expect(results[3]["errors"]?.elements.map { $0["column"]?.int } == [4])
    }

    @Test func schemasFindEachOther() async throws {
        let schema = try folder.write(
            "a.json",
            #"{"$id":"https://example.com/s/a.json","properties":{"#
                + #""b":{"$ref":"b.json"},"c":{"$ref":"https://example.org/c"},"d":{"$ref":"http://localhost:1234/d#/e"}}}"#
        )
        try folder.write("b.json", #"{"type":"string"}"#)
        try folder.write("any-name.json", #"{"$id":"https://example.org/c","format":"ipv4"}"#)
        let document = try folder.write("document", #"{"b":1,"c":"x","d":1}"#)
        let missing = try await martlet("validate", "--schema", schema, document)
        #expect(missing.status == .exited(2) && missing.output == [])
        #expect(missing.errors.joined().contains("which was not given: name its file or folder, as in --resource"))

        let other = try folder.write("other", #"{"e":false}"#)
        for resource in ["http://localhost:1234/d=\(other)", "http://localhost:1234/=\(folder.file("remotes"))"] {
            mkdir(folder.file("remotes"), 0o755)
            try folder.write("remotes/d", #"{"e":false}"#)
            let run = try await martlet(
                "validate", "--schema", schema, "--resource", resource, "--all-errors", "--assert-format", document)
            let errors = try #require(try JSONDocument(run.output.joined()).root["errors"]).elements
            #expect(errors.map { $0["instance_pointer"]?.string } == ["/b", "/c", "/d"])
        }
    }

    /// Though references are resolved against an `$id` by which they might be found in the schema's own folder.
    @Test func namedFoldersAreFoundFromASchemaWithAnID() async throws {
        let schema = try folder.write(
            "schema.json",
            #"{"$id":"http://localhost:1234/d/schema.json","items":[{"$ref":"a.json"},{"$ref":"b.json"}]}"#)
        mkdir(folder.file("remotes"), 0o755)
        mkdir(folder.file("remotes/d"), 0o755)
        try folder.write("remotes/d/a.json", #"{"type":"string"}"#)
        try folder.write("a.json", "true")
        try folder.write("b.json", #"{"type":"null"}"#)
        let document = try folder.write("document", "[1,1]")
        for prefix in ["http://localhost:1234/", "http://localhost:1234"] {
            let run = try await martlet(
                "validate", "--schema", schema, "--draft", "draft-07", "--all-errors",
                "--resource", "\(prefix)=\(folder.file("remotes"))", document)
            let errors = try #require(try JSONDocument(run.output.joined()).root["errors"]).elements
            #expect(errors.map { $0["instance_pointer"]?.string } == ["/0", "/1"])
        }
    }

    @Test func whatIsBrokenOrMissingIsUsage() async throws {
        let broken = try folder.write("broken.json", "{\n\"type\": 1}")
        let notJSON = try folder.write("not.json", "{\n\"type\"}")
        for (arguments, text) in [
            (["--schema", broken, "/dev/null"], #"broken.json:2:9: schema at "/type": "#),
            (["/nowhere"], "cannot read /nowhere"),
            (["--schema", notJSON, "/dev/null"], "not.json:2:7: this character cannot stand here"),
            (["--schema", "/nowhere", "/dev/null"], "/nowhere: cannot read it"), ([], "FILE… is missing"),
            (["--resource", "x=y", "/dev/null"], "option --resource goes with --schema"),
            (["--schema", broken, "--draft", "4", "x"], "takes 2020-12 or draft-07, not '4'"),
            (["--schema", broken, "--resource", "=y", "x"], "takes URI=FILE or URI=FOLDER, not '=y'"),
        ] {
            let run = try await martlet(["validate"] + arguments)
            #expect(run.status == .exited(2) && run.output == [], "\(arguments)")
            #expect(run.errors.count == 1 && run.errors.joined().contains(text), "\(run.errors)")
        }
    }

    @Test func theDraftIsThatOfTheSchemaOrAsSaid() async throws {
        let schema = try folder.write("s.json", #"{"items":[{"type":"string"}]}"#)
        let document = try folder.write("document", "[1]")
        let newer = try await martlet("validate", "--schema", schema, document)
        #expect(newer.status == .exited(2))
        let older = try await martlet("validate", "--draft", "draft-07", "--schema", schema, document)
        #expect(older.status == .exited(1))
    }

    @Test func configurationsAreChecked() async throws {
        let wrong = try folder.write("wrong.yaml", "amqp:\n  url: http://x\napp: {}\n")
        let run = try await martlet("config", "check", wrong)
        #expect(run.status == .exited(1) && run.output == [])
        #expect(run.errors.contains { $0.hasPrefix("martlet: \(wrong):3:1: unknown key 'app'; did you mean 'apps'?") })
        #expect(run.errors.contains { $0.hasPrefix("martlet: \(wrong):2:8: ") })

        let schema = try folder.write("payload.json", #"{"propertes":{}}"#)
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        let right = try folder.write(
            "right.yaml", ConfigurationTests.shortest + "\npayload_schemas:\n  com.example.shop: payload.json\n")
        let fine = try await martlet("config", "check", right)
        let told = ["martlet: \(schema): no vocabulary knows the keyword at /propertes"]
        #expect(fine == Run(status: .exited(0), output: ["\(right): valid"], errors: told))
    }

    @Test(arguments: [
        ("{\"a\": 1,\n  \"b\": x}", 16, 40, "  \"b\": x}\n       ^"), ("", 0, 40, "\n^"), ("ab", 2, 40, "ab\n  ^"),
        ("0123456789ABCDEFGHIJ", 15, 12, "…89ABCDEFGH…\n        ^"), ("\t\u{1B}é!", 4, 40, " \u{FFFD}é!\n   ^"),
    ])
    func aCaretShowsThePlace(_ text: String, _ offset: Int, _ width: Int, _ expected: String) {
        let position = JSONPosition(offset: offset, line: 1, column: 1)
        #expect(SourceExcerpt.text(Array(text.utf8), position, width: width) == expected)
    }

    @Test func ofAConfigurationOnlyTheKeyIsShown() {
        let text = Array("amqp:\n  password: [hunter2]\n".utf8)
        let position = JSONPosition(offset: 18, line: 2, column: 13)
        #expect(SourceExcerpt.key(text, position, width: 80) == "  password: …\n            ^")
    }

    private struct Run: Equatable {
        var status: ChildExit.Status
        var output: [String]
        var errors: [String]
    }

    private func martlet(_ arguments: String...) async throws -> Run { try await martlet(arguments) }

    private func martlet(_ arguments: [String]) async throws -> Run {
        let result = try await ChildProcess.run([Products.executable("martlet")] + arguments)
        return Run(status: result.exit.status, output: result.output, errors: result.errors)
    }
}
