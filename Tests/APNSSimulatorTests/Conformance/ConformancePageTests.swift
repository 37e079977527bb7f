import Glibc
import TestKit
import Testing

/// The documentation's table of cases is whole, and what it names is there.
@Suite struct ConformancePageTests {
    private struct Row {
        var number: Int
        var owner: String
        var tests: [String]
    }

    private static let rowCount = 156

    private let text: String
    private let rows: [Row]
    /// All tests of the project, as they are named on the page: their suite, a slash, their function.
    private let tests: Set<String>

    init() throws {
        text = try Self.read(Products.file("Sources/APNSSimulator/Documentation.docc/SimulatorConformance.md"))
        rows = text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { String($0).trimmed }
            guard cells.count == 7, let number = Int(cells[1]) else { return nil }
            return Row(number: number, owner: cells[4], tests: Self.named(in: cells[5]))
        }
        let files = ["*", "*/*", "*/*/*"].flatMap { Self.paths(Products.file("Tests/\($0).swift")) }
        tests = Set(try files.flatMap { Self.tests(in: try Self.read($0)) })
    }

    @Test func everyRowStandsThereOnceInOrder() {
        #expect(rows.map(\.number) == Array(1...Self.rowCount))
    }

    @Test func everyRowHasAnOwnerAndTheSimulatorsATest() {
        for row in rows {
            #expect(!row.owner.isEmpty && row.owner != "–", "row \(row.number)")
            #expect(row.owner != "simulator" || !row.tests.isEmpty, "row \(row.number)")
        }
    }

    @Test func everyTestThatIsNamedExists() {
        let named = Self.named(in: text)
        #expect(named.count > Self.rowCount)
        #expect(tests.count > 500)
        for name in named { #expect(tests.contains(name), "\(name)") }
    }

    /// `Suite/function`, in code's type, wherever it stands.
    private static func named(in text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 && $0.element.contains(/^\w+(Tests|Clients|Traffic)\//) }
            .map { String($0.element) }
    }

    private static func tests(in source: String) -> [String] {
        var suite = ""
        var tests: [String] = []
        for match in source.matches(of: /(?:struct|enum|class) +(\w+)|func +(?:`([^`]+)`|(\w+))\(/) {
            if let name = match.1 {
                // Helpers within a suite have names that no suite has.
                if name.hasSuffix("Tests") || source.contains("@Suite struct \(name)") { suite = String(name) }
            } else if let name = match.2 ?? match.3 {
                tests.append("\(suite)/\(name)")
            }
        }
        return tests
    }

    private static func paths(_ pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, 0, nil, &found) == 0 else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    }

    private static func read(_ path: String) throws -> String {
        String(decoding: try Files.bytes(of: path), as: UTF8.self)
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
