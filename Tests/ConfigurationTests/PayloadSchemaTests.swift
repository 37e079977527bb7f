import Crypto
import Delivery
import Glibc
import JSON
import JSONSchema
import Telemetry
import TestKit
import Testing

@testable import Configuration
@testable import Worker

/// The choice of an app's payload schema, and its reload after a change.
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

    @Test func manyWildcardsAreFast() {
        let pattern = AppPattern(text: String(repeating: "*a", count: 100) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 10_000)))
    }

    @Test func theMostSpecificPatternApplies() {
        let texts = ["*", "com.example.shop", "com.example.*", "com.*"]
        let byExactness = texts.sorted { AppPattern(text: $0).exactness > AppPattern(text: $1).exactness }
        #expect(byExactness == ["com.example.shop", "com.example.*", "com.*", "*"])
    }

    @Test func aChangedFileIsReloadedAndABrokenOneRefused() throws {
        let harness = try Harness(["shop.json": #"{"required":["a"]}"#])
        #expect(harness.checks(2) == [false, false])
        #expect(try harness.lacks() == "a")

        try harness.write("shop.json", #"{"required":["longer"]}"#)
        // A changing file may be incomplete. A changed file is read at the first check that finds no further change.
        #expect(harness.checks(3) == [false, true, false])
        #expect(try harness.lacks() == "longer")

        try harness.write("shop.json", #"{"required":"#)
        #expect(harness.checks(4) == [false, false, false, false])
        #expect(try harness.lacks() == "longer")
        #expect(harness.reloads("taken") == 1 && harness.reloads("refused") == 1)
        let errors = harness.errors()
        #expect(errors.count == 1 && errors.joined().contains("shop.json:1:13: "), "\(errors)")

        try harness.write("shop.json", #"{"$ref":"other.json"}"#)
        try harness.write("other.json", #"{"required":["other"]}"#)
        #expect(harness.checks(2) == [false, true])
        #expect(try harness.lacks() == "other")
        try harness.write("other.json", #"{"required":["nested"]}"#)
        #expect(harness.checks(2) == [false, true])
        #expect(try harness.lacks() == "nested")
    }

    @Test func referencedSchemasAreWatched() throws {
        let harness = try Harness([
            "shop.json": #"{"$ref":"sub/inner.json"}"#, "sub/inner.json": #"{"required":["a"]}"#,
        ])
        #expect(harness.checks(2) == [false, false])
        try harness.write("sub/inner.json", #"{"required":["other"]}"#)
        #expect(harness.checks(3) == [false, true, false])
        #expect(try harness.lacks() == "other")

        try harness.write("sub/inner.json", "{")
        #expect(harness.checks(3) == [false, false, false])
        #expect(harness.errors().count == 1)
        try harness.write("sub/inner.json", #"{"$ref":"leaf.json"}"#)
        #expect(harness.checks(3) == [false, false, false])
        #expect(harness.errors().count == 1)
        try harness.write("sub/leaf.json", #"{"required":["leaf"]}"#)
        #expect(harness.checks(2) == [false, true])
        #expect(try harness.lacks() == "leaf")
    }

    @Test func targetsOfLinksAreWatched() throws {
        let harness = try Harness(
            ["real/x.json": #"{"$ref":"sib.json"}"#, "real/sib.json": #"{"required":["a"]}"#],
            links: ["shop.json": "real/x.json"])
        #expect(harness.checks(2) == [false, false])
        try harness.write("real/sib.json", #"{"required":["other"]}"#)
        #expect(harness.checks(2) == [false, true])
        #expect(try harness.lacks() == "other")

        // Kubernetes replaces a ConfigMap in this way.
        try harness.write("new/x.json", #"{"required":["new"]}"#)
        symlink("new/x.json", harness.folder.file("next"))
        rename(harness.folder.file("next"), harness.folder.file("shop.json"))
        #expect(harness.checks(2) == [false, true])
        #expect(try harness.lacks() == "new")
    }

    // An unchanged file is a hard link to the same file in both releases.
    @Test func aReleaseOfHardLinksIsWatched() throws {
        let harness = try Harness(
            ["real/x.json": #"{"$ref":"o.json"}"#, "real/o.json": #"{"required":["a"]}"#],
            links: ["current": "real", "shop.json": "current/x.json"])
        try #require(link(harness.folder.file("real/x.json"), harness.folder.file("new/x.json")) == 0)
        try harness.write("new/o.json", #"{"required":["new"]}"#)
        _ = harness.checks(3)
        #expect(try harness.lacks() == "a")
        symlink("new", harness.folder.file("next"))
        rename(harness.folder.file("next"), harness.folder.file("current"))
        #expect(harness.checks(2) == [false, true])
        #expect(try harness.lacks() == "new")
    }

    @Test func aBrokenNeighborIsReported() throws {
        let folder = try TemporaryDirectory("payload-neighbour")
        for number in 0..<SchemaFolder.filesMax { try folder.write("\(number).txt", "") }
        try folder.write("z.json", #"{"$id":"urn:a"}"#)
        let path = try folder.write("shop.json", #"{"allOf":[{"$ref":"urn:a"},{"$ref":"urn:b"}]}"#)
        try folder.write("b.json", #"{"$id":"urn:b","#)
        let problem = try #require(throws: SchemaFileProblem.self) { try SchemaFolder().compile(path) }
        let text = "\(problem)"
        #expect(text.contains("refers to urn:b, which was not given") && text.contains("b.json:1:"), "\(text)")
    }

    @Test func aSchemaIsFoundByItsIDOnceItExists() throws {
        let harness = try Harness([
            "shop.json": #"{"$ref":"urn:a"}"#, "a.json": #"{"$id":"urn:a","required":["a"]}"#, "clock": "",
        ])
        #expect(harness.checks(2) == [false, false])
        unlink(harness.folder.file("a.json"))
        #expect(harness.checks(3) == [false, false, false])
        #expect(harness.errors().count == 1)
        harness.changeMode("clock")
        try harness.write("b.json", #"{"$id":"urn:a","required":["b"]}"#)
        #expect(harness.checks(3) == [false, true, false])
        #expect(try harness.lacks() == "b")
    }

    // The file's modification time and length may stay the same.
    @Test func changedPermissionsAreAChange() throws {
        let harness = try Harness(["shop.json": #"{"required":["a"]}"#])
        #expect(harness.checks(2) == [false, false])
        harness.changeMode("shop.json")
        #expect(harness.checks(3) == [false, true, false])
    }

    @Test func unknownKeywordsAreLogged() throws {
        let harness = try Harness(["shop.json": #"{"propertes":{}}"#])
        let text = #""error":"unknown keyword at /propertes""#
        let lines = harness.lines()
        #expect(lines.contains { $0.contains(#""level":"warning""#) && $0.contains(text) }, "\(lines)")
    }

    @Test func unrelatedFilesAreNotWatched() throws {
        let harness = try Harness(["shop.json": #"{"required":["a"]}"#, "other.json": "{}"])
        try harness.write("other.json", "{ }")
        #expect(harness.checks(3) == [false, false, false])
        try harness.write("shop.json", #"{"required":["b"],"title":""}"#)
        #expect(try harness.checks(2, whileWriting: "other.json") == [false, true])
        #expect(try harness.lacks() == "b")
    }

    @Test func aConstantlyChangingFileDoesNotDelayOthers() throws {
        let harness = try Harness(["shop.json": #"{"$ref":"other.json"}"#, "other.json": "{}"])
        try harness.write("shop.json", #"{"$ref":"other.json","required":["b"]}"#)
        #expect(try harness.checks(4, whileWriting: "other.json") == [false, true, false, false])
        #expect(try harness.lacks() == "b")
        #expect(harness.checks(3) == [true, false, false])
    }

    @Test(.timeLimit(.minutes(10))) func aPipeIsRefused() throws {
        let folder = try TemporaryDirectory("payload-pipe")
        try #require(mkfifo(folder.file("pipe.json"), 0o600) == 0)
        let problem = try #require(throws: SchemaFileProblem.self) {
            try SchemaFolder().compile(folder.file("pipe.json"))
        }
        #expect("\(problem)".hasSuffix("pipe.json: cannot read the file: not a regular file"))
        // The search for an $id does not open a pipe either.
        let path = try folder.write("shop.json", #"{"$ref":"urn:nowhere"}"#)
        let missing = try #require(throws: SchemaFileProblem.self) { try SchemaFolder().compile(path) }
        #expect("\(missing)".contains("the schema refers to urn:nowhere, which was not given"))
    }

    @Test func theConfigurationNamesFilesForApps() throws {
        let folder = try TemporaryDirectory("payload-configuration")
        try folder.write("shop.json", #"{"type":"object"}"#)
        try folder.write("broken.json", #"{"type":"objct"}"#)
        let key = try ES256PrivateKey.generate().pkcs8PEM()
        let file = ConfigurationFile(
            folder.file("martlet.yaml"),
            resolver: ReferenceResolver(environment: { _ in nil }, readFile: { _ in Array(key.utf8) }))
        let start = SampleConfiguration.shortest + "\npayload_schemas:\n"
        let good = start + "  com.example.*: shop.json\n"
        let configuration = try file.worker(text: Array(good.utf8))
        #expect(configuration.payloadSchemas.files.map(\.pattern.text) == ["com.example.*"])
        #expect(configuration.payloadSchemas.files.map(\.path) == [folder.file("shop.json")])

        let bad = start + "  com.example.shop: broken.json\n  com.other.*: none.json\n"
        let error = try #require(throws: ConfigurationError.self) { try file.worker(text: Array(bad.utf8)) }
        let texts = error.mistakes.map(\.description)
        #expect(texts.count == 3)
        #expect(texts[0].contains(":11:21: ") && texts[0].contains(#"broken.json:1:9: schema at "/type": "#))
        #expect(texts[1].contains(":12:3: no app in apps matches this pattern"))
        #expect(texts[2].contains("none.json: cannot read the file: no such file"))

        // Mistakes of payload schemas are reported despite other mistakes. If the apps are unknown, patterns are not
        // compared with the apps.
        for (written, instead) in [("url:", "ulr:"), ("apps:", "app:"), ("file: AuthKey.p8", "file: ${GONE}")] {
            let worse = bad.replacing(written, with: instead)
            let error = try #require(throws: ConfigurationError.self) { try file.worker(text: Array(worse.utf8)) }
            let texts = error.mistakes.map(\.description)
            #expect(texts.contains { $0.contains("none.json: cannot read the file") }, "\(texts)")
            #expect(texts.contains { $0.contains("no app in apps matches") } == (written != "apps:"), "\(texts)")
        }
    }

    @Test func aForbiddenReferenceIsReported() throws {
        let folder = try TemporaryDirectory("payload-references")
        let path = try folder.write("shop.json", "{\n\"$ref\": \"../common.json\"}")
        let problem = try #require(throws: SchemaFileProblem.self) { try SchemaFolder().compile(path) }
        let text = "\(problem)"
        #expect(text.hasPrefix("\(path):2:9: schema at \"/$ref\": the schema refers to file:///"), "\(text)")
        #expect(
            text.hasSuffix(
                "/common.json, which was not given: payload schemas may refer only to files in their folder and its subfolders"
            ),
            "\(text)")
    }

    @Test func theFirstOfEquallySpecificPatternsApplies() throws {
        let folder = try TemporaryDirectory("payload-patterns")
        let path = try folder.write("shop.json", "{}")
        let file = try PayloadSchemaFiles.File(pattern: AppPattern(text: "*"), path: path)
        var files = PayloadSchemaFiles(files: [file, file, file])
        files.files[1].pattern = AppPattern(text: "com.example.n*")
        files.files[2].pattern = AppPattern(text: "com.example.*s")
        #expect(files.index(ofApp: "com.example.news") == 1)
        #expect(files.index(ofApp: "com.example.shop") == 0)
    }
}

/// A reloader of `shop.json` in a temporary folder.
private final class Harness {
    let folder: TemporaryDirectory
    private let log: CapturedLog
    private let metrics = MetricsRegistry()
    private var reloader: PayloadSchemaReloader

    init(_ files: [String: String], links: [String: String] = [:]) throws {
        folder = try TemporaryDirectory("payload-schemas")
        log = try CapturedLog()
        for name in ["sub", "real", "new"] { mkdir(folder.file(name), 0o700) }
        for (name, text) in files { try folder.write(name, text) }
        for (name, target) in links { symlink(target, folder.file(name)) }
        let path = folder.file("shop.json")
        let file = try PayloadSchemaFiles.File(pattern: AppPattern(text: "*"), path: path)
        reloader = PayloadSchemaReloader(PayloadSchemaFiles(files: [file]), log: log.log, metrics: metrics)
    }

    func write(_ name: String, _ text: String) throws { try folder.write(name, text) }

    func checks(_ count: Int) -> [Bool] { (0..<count).map { _ in reloader.check() } }

    /// Runs checks, and changes the file before each check. Returns the results of the checks.
    func checks(_ count: Int, whileWriting name: String) throws -> [Bool] {
        try (0..<count).map { count in
            try write(name, "{" + String(repeating: " ", count: 9 + count) + "}")
            return reloader.check()
        }
    }

    /// Changes the mode until the file's change time (ctime) differs, because the file system's clock is coarse.
    func changeMode(_ name: String) {
        func changed() -> timespec {
            var status = stat()
            stat(folder.file(name), &status)
            return status.st_ctim
        }
        let before = changed()
        _ = (0..<1_000_000).first { _ in
            chmod(folder.file(name), 0o640)
            return changed().tv_nsec != before.tv_nsec
        }
    }

    /// Returns the property that an empty object lacks under the current schema; nil if the object is valid.
    func lacks() throws -> String? {
        let violation = SchemaValidator(reloader.current.files[0].schema).firstViolation(
            in: try JSONDocument("{}").root)
        return violation.map { String($0.message.dropFirst(#"lacks the property ""#.count).dropLast()) }
    }

    /// Returns the log lines since the last call.
    func lines() -> [String] { log.lines() }

    func reloads(_ result: String) -> Int { metrics.count(of: "martlet_reloads_total", with: ("result", result)) }

    func errors() -> [String] {
        lines().filter { $0.contains("payload schema rejected, keeping the previous version") }
    }
}
