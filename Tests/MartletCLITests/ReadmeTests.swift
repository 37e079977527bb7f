import Crypto
import Glibc
import TestKit
import Testing

@testable import Configuration

/// The examples of the README and of the operators' pages, and the developers' lists of folders and targets.
@Suite struct ReadmeTests {
    private let text: String

    init() throws {
        text = String(decoding: try FileReader.bytes(of: Products.file("README.md"), bytesMax: 1 << 20), as: UTF8.self)
    }

    @Test func itIsShort() {
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
        #expect(text.split(whereSeparator: \.isWhitespace).count <= 1300)
    }

    /// A page may show only a part of a configuration. The README's configuration supplies the other parts.
    @Test(
        arguments: ["README.md"]
            + ["Configuring", "Installing", "Operating", "Scaling"].map { "\(Self.operators)/\($0).md" })
    func configurationsAreValid(page: String) throws {
        let key = try ES256PrivateKey.generate().pkcs8PEM()
        let file = ConfigurationFile(
            page, resolver: ReferenceResolver(environment: { _ in "9780" }, readFile: { _ in Array(key.utf8) }))
        let blocks = String(decoding: try Files.bytes(of: Products.file(page)), as: UTF8.self)
            .components(between: "```yaml\n", and: "```")
        #expect(!blocks.isEmpty)
        let whole = Self.sections(try #require(text.components(between: "```yaml\n", and: "```").first))
        for block in blocks {
            let shown = Self.sections(block)
            let missing = whole.filter { section in !shown.contains { $0.key == section.key } }.map(\.text)
            #expect(throws: Never.self) { try file.worker(text: Array((block + missing.joined()).utf8)) }
        }
    }

    private static let operators = "Sources/Documentation/Operators"

    /// Returns the top-level members of a YAML text.
    private static func sections(_ yaml: String) -> [(key: Substring, text: String)] {
        var sections: [(key: Substring, text: String)] = []
        for line in yaml.split(separator: "\n") {
            if line.first?.isLetter == true { sections.append((line.prefix { $0 != ":" }, "")) }
            if !sections.isEmpty { sections[sections.count - 1].text += "\(line)\n" }
        }
        return sections
    }

    // `SystemTests` runs the programs of the producers' page.
    @Test(arguments: ["python", "go", "php", "ruby"])
    func itsProgramsAreThoseOfTheProducersPage(language: String) throws {
        let file = Products.file("Sources/Documentation/Producers/Examples.md")
        let page = String(decoding: try Files.bytes(of: file), as: UTF8.self)
        let tested = page.components(between: "```\(language)\n", and: "\n```")
        #expect(!tested.isEmpty)
        for block in text.components(between: "```\(language)\n", and: "\n```") {
            #expect(tested.contains(block), "\(block)")
        }
    }

    @Test func theFoldersThatArchitectureNamesExistAndNoneIsMissing() throws {
        let page = Products.file("Sources/Documentation/Developers/Architecture.md")
        let architecture = String(decoding: try Files.bytes(of: page), as: UTF8.self)
        let table = architecture.components(between: "## Folders", and: "\n## ")
        let names = table.joined().components(between: "`", and: "`")
        #expect(names.count > 20)
        for name in names where !name.contains("…") {
            #expect(access(Products.file(name), F_OK) == 0, "\(name)")
        }
        let folders = try Files.names(in: Products.file("Sources")).map { "Sources/\($0)" }
        #expect(folders.count > 15)
        for folder in folders {
            let isNamed = names.contains { name in
                name.hasSuffix("…") ? folder.hasPrefix(name.dropLast()) : folder == name
            }
            #expect(isNamed, "\(folder)")
        }
    }

    @Test func theStructurePageListsEachTarget() throws {
        let page = Products.file("Sources/Documentation/Developers/Structure.md")
        let structure = String(decoding: try Files.bytes(of: page), as: UTF8.self)
        let rows = structure.components(between: "## Targets", and: "\nA test").joined().split(separator: "\n| ")
        let listed = rows.flatMap { row in String(row.prefix { $0 != "|" }).components(between: "`", and: "`") }
        let targets = try Files.names(in: Products.file("Sources")).filter { name in
            let isOfC = name.hasPrefix("C") && name.dropFirst().first?.isUppercase == true
            let isTool = ["FuzzTargets", "martlet-fuzz", "Documentation"].contains(name) || name.hasPrefix("baseline-")
            return !isOfC && !isTool
        }
        #expect(Set(listed) == Set(targets) && listed.count == targets.count)
    }
}

extension String {
    /// Returns the texts between each `start` and the next `end`.
    fileprivate func components(between start: String, and end: String) -> [String] {
        var found: [String] = []
        var rest = self[...]
        while let from = rest.firstRange(of: start), let to = rest[from.upperBound...].firstRange(of: end) {
            found.append(String(rest[from.upperBound..<to.lowerBound]))
            rest = rest[to.upperBound...]
        }
        return found
    }
}
