import Crypto
import Delivery
import JSON
import JSONSchema
import Telemetry
import TestKit
import Testing

@testable import Operations

/// Which payload schema is an app's, and what becomes of it when its file changes.
@Suite struct PayloadSchemaTests {
    @Test(arguments: [
        ("com.example.shop", "com.example.shop", true), ("com.example.shop", "com.example.shops", false),
        ("com.example.*", "com.example.shop", true), ("com.example.*", "com.example", false), ("*", "a.b", true),
        ("com.*.shop", "com.a.b.shop", true), ("com.*.shop", "com.a.shop.b", false), ("*shop*", "a.shop.b", true),
        ("a*a", "a", false), ("a*a", "aa", true), ("*a*b*c", "xaxbxbxc", true), ("*a*b*c", "xaxcxb", false),
    ])
    func patterns(_ pattern: String, _ bundleID: String, _ isMatch: Bool) {
        #expect(AppPattern(text: pattern).matches(bundleID) == isMatch)
    }

    @Test func manyStarsTakeNoTime() {
        let pattern = AppPattern(text: String(repeating: "*a", count: 100) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 10_000)))
    }

    @Test func theMostExactPatternCounts() {
        let texts = ["*", "com.example.shop", "com.example.*", "com.*"]
        let byExactness = texts.sorted { AppPattern(text: $0).exactness > AppPattern(text: $1).exactness }
        #expect(byExactness == ["com.example.shop", "com.example.*", "com.*", "*"])
    }

    @Test func aChangedFileIsReadAgainAndABrokenOneRefused() throws {
        let folder = try TemporaryDirectory("payload-schemas")
        let path = try folder.write("shop.json", #"{"required":["a"]}"#)
        let log = try CapturedLog()
        let file = PayloadSchemaFiles.File(
            pattern: AppPattern(text: "*"), path: path, schema: try SchemaFolder().compile(path))
        var reloader = PayloadSchemaReloader(PayloadSchemaFiles(files: [file]), log: log.log)
        func checks(_ count: Int) -> [Bool] { (0..<count).map { _ in reloader.check() } }
        func lacks() throws -> String? {
            let schema = reloader.current.files[0].schema
            return SchemaValidator(schema).firstViolation(in: try JSONDocument("{}").root)?.message
        }
        #expect(checks(2) == [false, false])
        #expect(try lacks() == #"lacks the property "a""#)

        try folder.write("shop.json", #"{"required":["longer"]}"#)
        // It may be half written: not before it stands still.
        #expect(checks(3) == [false, true, false])
        #expect(try lacks() == #"lacks the property "longer""#)

        try folder.write("shop.json", #"{"required":"#)
        #expect(checks(4) == [false, false, false, false])
        #expect(try lacks() == #"lacks the property "longer""#)
        let errors = log.lines().filter { $0.contains("the version before stays in force") }
        #expect(errors.count == 1 && errors[0].contains("shop.json:1:13: "), "\(errors)")

        try folder.write("shop.json", #"{"$ref":"other.json"}"#)
        try folder.write("other.json", #"{"required":["other"]}"#)
        #expect(checks(2) == [false, true])
        #expect(try lacks() == #"lacks the property "other""#)
        try folder.write("other.json", #"{"required":["nested"]}"#)
        #expect(checks(2) == [false, true])
        #expect(try lacks() == #"lacks the property "nested""#)
    }

    @Test func theConfigurationNamesFilesForApps() throws {
        let folder = try TemporaryDirectory("payload-configuration")
        try folder.write("shop.json", #"{"type":"object"}"#)
        try folder.write("broken.json", #"{"type":"objct"}"#)
        let key = try ES256PrivateKey.generate().pkcs8PEM()
        let file = ConfigurationFile(
            folder.file("martlet.yaml"),
            resolver: ReferenceResolver(environment: { _ in nil }, readFile: { _ in Array(key.utf8) }))
        let start = ConfigurationTests.shortest + "\npayload_schemas:\n"
        let good = start + "  com.example.*: shop.json\n"
        let configuration = try file.worker(text: Array(good.utf8))
        #expect(configuration.payloadSchemas.files.map(\.pattern.text) == ["com.example.*"])
        #expect(configuration.payloadSchemas.files.map(\.path) == [folder.file("shop.json")])

        let bad = start + "  com.example.shop: broken.json\n  com.other.*: none.json\n"
        let error = try #require(throws: ConfigurationError.self) { try file.worker(text: Array(bad.utf8)) }
        let texts = error.mistakes.map(\.description)
        #expect(texts.count == 3)
        #expect(texts[0].contains(":11:21: ") && texts[0].contains("broken.json#/type"))
        #expect(texts[1].contains(":12:3: no app is named so in apps"))
        #expect(texts[2].contains("none.json: cannot read it: there is no such file"))
    }
}
