import TestKit
import Testing

/// The page of what a worker does in each case is whole, and what it names is there.
@Suite struct WorkerConformancePageTests {
    private let page: ConformancePage

    init() throws {
        page = try ConformancePage("Sources/Documentation/Developers/Conformance.md", columns: 4)
    }

    @Test func everyRowStandsThereOnceInOrder() {
        #expect(page.rows.map(\.number) == Array(1...ConformancePage.rowCount))
    }

    @Test func everyTestThatIsNamedExists() throws {
        let tests = try ConformancePage.tests()
        #expect(page.named.count > ConformancePage.rowCount)
        #expect(page.named.filter { !tests.contains($0) } == [])
    }

    @Test func whateverAsksSomethingOfAWorkerHasATest() {
        for row in page.rows { #expect(row.tests.isEmpty == (row.cells[2] == "–"), "row \(row.number)") }
    }

    /// A list of rows below the table names each once, in order, and only such as ask something of a worker.
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

    @Test func theCasesAreTheSimulators() throws {
        let other = try ConformancePage("Sources/Documentation/Simulator/Conformance.md", columns: 5)
        #expect(page.rows.map { $0.cells[1] } == other.rows.map { $0.cells[1] })
    }
}
