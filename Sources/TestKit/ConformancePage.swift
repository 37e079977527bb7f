import Glibc

/// A documentation page with a table of numbered cases.
///
/// The last column names the tests of each case as `Suite/function` in code font.
public struct ConformancePage: Sendable {
    /// The number of documented cases of APNs' behavior.
    public static let rowCount = 156

    public struct Row: Sendable {
        public var number: Int
        /// All cells, including the row's number.
        public var cells: [String]
        public var tests: [String]
    }

    public let text: String
    public let rows: [Row]

    /// Reads a page.
    ///
    /// - Parameters:
    ///   - file: The path of the page, relative to the repository.
    ///   - columns: The number of columns of the table.
    public init(_ file: String, columns: Int) throws {
        text = try Self.read(Products.file(file))
        rows = text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { cell in cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed() }
                .map { String($0) }
            guard cells.count == columns, let number = Int(cells[0]) else { return nil }
            return Row(number: number, cells: cells, tests: Self.named(in: cells[columns - 1]))
        }
    }

    /// All tests that the page names, inside and outside the table.
    public var named: [String] { Self.named(in: text) }

    /// Returns all functions of the project's test suites, in the format of the page.
    public static func tests() throws -> Set<String> {
        let files = ["*", "*/*", "*/*/*"].flatMap { paths(Products.file("Tests/\($0).swift")) }
        return Set(try files.flatMap { tests(in: try read($0)) })
    }

    private static func named(in text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 && $0.element.contains(/^[A-Z]\w+\/[^\/.]+$/) }
            .map { String($0.element) }
    }

    private static func tests(in source: String) -> [String] {
        var suite = ""
        var tests: [String] = []
        for match in source.matches(of: /(?:struct|enum|class) +(\w+)|func +(?:`([^`]+)`|(\w+))\(/) {
            if let name = match.1 {
                // Helper types within a suite do not match either pattern.
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
