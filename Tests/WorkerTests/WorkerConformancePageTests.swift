import TestKit
import Testing

/// The completeness of the page about a worker's behavior in each case, and the tests that the page names.
@Suite struct WorkerConformancePageTests {
    private let page: ConformancePage

    init() throws {
        page = try ConformancePage("Sources/Documentation/Developers/Conformance.md", columns: 4)
    }

    @Test func everyRowOccursOnceInOrder() {
        #expect(page.rows.map(\.number) == Array(1...ConformancePage.rowCount))
    }

    @Test func everyNamedTestExists() throws {
        let tests = try ConformancePage.tests()
        #expect(page.named.count > ConformancePage.rowCount)
        #expect(page.named.filter { !tests.contains($0) } == [])
    }

    @Test func everyRequirementOfAWorkerHasATest() {
        for row in page.rows { #expect(row.tests.isEmpty == (row.cells[2] == "–"), "row \(row.number)") }
    }

    /// A list below the table names rows in order, no row twice, and only rows with requirements for a worker.
    @Test func listsNameRowsOfTheTable() {
        let asking = Set(page.rows.filter { $0.cells[2] != "–" }.map(\.number))
        let sections = page.text.split(separator: "\n## ").filter { $0.hasPrefix("What is") }
        #expect(!sections.isEmpty)
        for section in sections {
            let items = section.split(separator: "\n").filter { $0.hasPrefix("- ") }
            let numbers = items.compactMap { $0.firstMatch(of: /^- (\d+): \S/).flatMap { Int($0.1) } }
            #expect(numbers.count == items.count && !items.isEmpty, "\(items)")
            #expect(numbers == Set(numbers).sorted())
            #expect(numbers.filter { !asking.contains($0) } == [])
        }
    }

    @Test func casesMatchTheSimulatorsPage() throws {
        let other = try ConformancePage("Sources/Documentation/Simulator/Conformance.md", columns: 5)
        #expect(page.rows.map { $0.cells[1] } == other.rows.map { $0.cells[1] })
    }
}
