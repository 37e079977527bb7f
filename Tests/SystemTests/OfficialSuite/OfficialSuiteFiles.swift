import JSON
import TestKit

/// The official test suite from the source package of Python's `jsonschema`, downloaded from PyPI once.
struct OfficialSuiteFiles {
    private static let package = "jsonschema-4.26.0"
    private let folder: String

    static func fetched() async throws -> OfficialSuiteFiles {
        let home = Products.file(".build/python/json-schema-suite")
        let python = try await PythonEnvironment(
            "json-schema-suite", requirements: Products.file("Tests/SystemTests/OfficialSuite/requirements.txt"))
        let archive = "\(home)/\(package).tar.gz"
        if (try? Files.bytes(of: archive)) == nil {
            _ = try await python.run(
                "-m",
                [
                    "pip", "download", "--disable-pip-version-check", "--no-deps", "--no-build-isolation",
                    "--no-binary", ":all:", "--dest", home, package.split(separator: "-").joined(separator: "=="),
                ])
        }
        let unpacked = try await ChildProcess.run(["tar", "-xzf", archive, "-C", home, "\(package)/json"])
        guard unpacked.exit.status == .exited(0) else { throw ProcessError("\(archive): \(unpacked.errors)") }
        return OfficialSuiteFiles(folder: "\(home)/\(package)/json")
    }

    /// Runs `martlet validate` on each case of a folder of the suite and its subfolders, except `optional`.
    ///
    /// - Returns: The number of cases, and the cases whose result differs from the suite's.
    func judged(
        _ name: String, draft: String, assertsFormat: Bool
    ) async throws -> (count: Int, wrong: [String]) {
        let scratch = try TemporaryDirectory("suite")
        let martlet = try Products.executable("martlet")
        var count = 0
        var wrong: [String] = []
        for file in try Self.files(in: "\(folder)/\(name)") {
            for group in try JSONDocument(try Files.bytes(of: "\(folder)/\(name)/\(file)")).root.elements {
                let tests = group["tests"].map { Array($0.elements) } ?? []
                let schema = try scratch.write("schema.json", Self.line(group["schema"]))
                let values = try scratch.write("values", tests.map { Self.line($0["data"]) }.joined(separator: "\n"))
                let run = try await ChildProcess.run(
                    [martlet, "validate", "--json", "--schema", schema, "--draft", draft, "--lines", values]
                        + ["--resource", "http://localhost:1234/=\(folder)/remotes"]
                        + (assertsFormat ? ["--assert-format"] : []))
                let results = try run.output.map { try JSONDocument($0).root["valid"]?.bool }
                count += tests.count
                for (index, test) in tests.enumerated()
                where results.count != tests.count || results[index] != test["valid"]?.bool {
                    wrong.append(
                        "\(file): \(group["description"]?.string ?? ""): \(test["description"]?.string ?? ""): "
                            + (run.errors.first ?? run.output.dropFirst(index).first ?? "\(run.exit)"))
                }
            }
        }
        return (count, wrong)
    }

    /// Returns a value's JSON on one line. Line breaks in JSON are whitespace only.
    private static func line(_ value: JSONValue?) -> String {
        String(
            decoding: (value?.sourceBytes ?? []).map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 },
            as: UTF8.self)
    }

    private static func files(in folder: String) throws -> [String] {
        try Files.names(in: folder).filter { $0 != "optional" }.flatMap { name in
            name.hasSuffix(".json") ? [name] : try files(in: "\(folder)/\(name)").map { "\(name)/\($0)" }
        }
    }
}
