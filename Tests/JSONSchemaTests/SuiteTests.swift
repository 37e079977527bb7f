import JSON
import JSONSchema
import TestKit
import Testing

/// The official suite of draft-07, from Debian's package `json-schema-test-suite`, and this project's cases of 2020-12.
struct SuiteTests {
    private static let folder = "/usr/share/json-schema-test-suite"
    static let olderFiles = SuiteFile.all(in: folder + "/tests/draft7")
    static let ownFolder = Products.file("Tests/JSONSchemaTests/Cases/draft2020-12")
    static let newerFiles = SuiteFile.all(in: ownFolder)

    @Test func suiteIsInstalled() {
        #expect(Self.olderFiles.count > 40, "install the package json-schema-test-suite")
    }

    @Test(arguments: olderFiles.filter { !$0.name.hasPrefix("optional/") })
    func draft07(_ file: SuiteFile) throws {
        #expect(try Self.failures(file, SchemaOptions(defaultDraft: .draft07)) == [])
    }

    @Test(arguments: newerFiles.filter { !$0.name.hasPrefix("remotes/") && !$0.name.hasPrefix("format/") })
    func draft2020(_ file: SuiteFile) throws {
        #expect(try Self.failures(file, SchemaOptions()) == [])
    }

    @Test(arguments: newerFiles.filter { $0.name.hasPrefix("format/") })
    func formatsOf2020(_ file: SuiteFile) throws {
        #expect(try Self.failures(file, SchemaOptions(assertsFormat: true)) == [])
    }

    /// The documentation's list of optional cases is correct.
    @Test(arguments: olderFiles.filter { $0.name.hasPrefix("optional/") })
    func optionalFilesAreListed(_ file: SuiteFile) throws {
        var count = 0
        let failures = try file.failures(
            remotes: Self.remotes, options: SchemaOptions(assertsFormat: true, defaultDraft: .draft07), count: &count)
        let page = String(
            decoding: try Files.bytes(of: Products.file("Sources/Documentation/Developers/Results.md")),
            as: UTF8.self)
        let start = "| `\(file.name)` | \(count) | \(failures.isEmpty ? "all pass" : "\(failures.count) differ: ")"
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `\(file.name)`") }
        #expect(rows.count == 1 && rows[0].hasPrefix(start), "\(start) \(failures)")
    }

    @Test func casesWithoutAVerdictFail() throws {
        let folder = try TemporaryDirectory("suite")
        try folder.write(
            "a.json", #"[{"schema":true,"tests":[{"data":1,"valid":true},{"data":1,"vaild":false},{"valid":true}]}]"#)
        var count = 0
        let failures = try SuiteFile(name: "a", path: folder.file("a.json"))
            .failures(remotes: SchemaResources(), options: SchemaOptions(), count: &count)
        #expect(count == 3)
        #expect(failures.map(\.reason) == ["the data or the verdict is missing", "the data or the verdict is missing"])
    }

    @Test func requiredCasesAreCounted() throws {
        var count = 0
        for file in Self.olderFiles where !file.name.hasPrefix("optional/") {
            _ = try file.failures(remotes: Self.remotes, options: SchemaOptions(defaultDraft: .draft07), count: &count)
        }
        let page = String(
            decoding: try Files.bytes(of: Products.file("Sources/Documentation/Developers/Results.md")),
            as: UTF8.self)
        #expect(page.contains("All \(count) required cases of draft-07"))
    }

    static var remotes: SchemaResources {
        var remotes = SchemaResources()
        remotes.add(prefix: "http://localhost:1234/draft2020-12/", folder: ownFolder + "/remotes")
        remotes.add(prefix: "http://localhost:1234/", folder: folder + "/remotes")
        return remotes
    }

    private static func failures(_ file: SuiteFile, _ options: SchemaOptions) throws -> [SuiteFile.Failure] {
        var count = 0
        let failures = try file.failures(remotes: remotes, options: options, count: &count)
        #expect(count > 0)
        return failures
    }
}
