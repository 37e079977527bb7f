import TestKit
import Testing

/// The documentation's table of cases is whole, and what it names is there.
@Suite struct ConformancePageTests {
    private let page: ConformancePage

    init() throws {
        page = try ConformancePage("Sources/Documentation/Simulator/Conformance.md", columns: 5)
    }

    @Test func everyRowStandsThereOnceInOrder() {
        #expect(page.rows.map(\.number) == Array(1...ConformancePage.rowCount))
    }

    @Test func everyRowHasAnOwnerAndTheSimulatorsATest() {
        for row in page.rows {
            let owner = row.cells[3]
            #expect(!owner.isEmpty && owner != "–", "row \(row.number)")
            #expect(owner != "simulator" || !row.tests.isEmpty, "row \(row.number)")
        }
    }

    @Test func everyTestThatIsNamedExists() throws {
        let tests = try ConformancePage.tests()
        #expect(page.named.count > ConformancePage.rowCount)
        #expect(tests.count > 500)
        #expect(page.named.filter { !tests.contains($0) } == [])
    }
}
