import Glibc

/// A page of the documentation with a table of numbered cases, whose last column names the tests that show them:
/// `Suite/function`, in code's type.
public struct ConformancePage: Sendable {
    /// The cases that APNs' behaviour is told apart by.
    public static let rowCount = 156

    public struct Row: Sendable {
        public var number: Int
        /// All of them, from the row's number on.
        public var cells: [String]
        public var tests: [String]
    }

    public let text: String
    public let rows: [Row]

    /// - Parameters:
    ///   - file: from the project's folder.
    ///   - columns: of the table.
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

    /// Tests that the page names, wherever they stand.
    public var named: [String] { Self.named(in: text) }

    /// All tests of the project, as a page names them.
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
