import TestKit
import Testing

/// Tests of the documentation's table of cases. The table must be complete, and the tests that it names must exist.
@Suite struct ConformancePageTests {
    private let page: ConformancePage

    init() throws {
        page = try ConformancePage("Sources/Documentation/Simulator/Conformance.md", columns: 5)
    }

    @Test func everyRowOccursOnceInOrder() {
        #expect(page.rows.map(\.number) == Array(1...ConformancePage.rowCount))
    }

    @Test func everyRowHasAnOwnerAndSimulatorRowsATest() {
        for row in page.rows {
            let owner = row.cells[3]
            #expect(!owner.isEmpty && owner != "–", "row \(row.number) has no owner")
            #expect(owner != "simulator" || !row.tests.isEmpty, "row \(row.number) names no test")
        }
    }

    @Test func everyNamedTestExists() throws {
        let tests = try ConformancePage.tests()
        #expect(page.named.count > ConformancePage.rowCount)
        #expect(tests.count > 500)
        #expect(page.named.filter { !tests.contains($0) } == [])
    }
}
