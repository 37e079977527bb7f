import TestKit
import Testing

/// The page of what a worker does in each case is whole, and what it names is there.
@Suite struct WorkerConformancePageTests {
    private let page: ConformancePage

    init() throws {
        page = try ConformancePage("Sources/Delivery/Documentation.docc/Conformance.md", columns: 4)
    }

    @Test func everyRowStandsThereOnceInOrder() {
        #expect(page.rows.map(\.number) == Array(1...ConformancePage.rowCount))
    }

    @Test func everyTestThatIsNamedExists() throws {
        let tests = try ConformancePage.tests()
        #expect(page.named.count > ConformancePage.rowCount)
        #expect(page.named.filter { !tests.contains($0) } == [])
    }

    /// What a worker has to do and no test shows stands among what is not there.
    @Test func whatHasNoTestIsAccountedFor() {
        let accounted = page.text.split(separator: "\n## ").last { $0.hasPrefix("What is not there") } ?? ""
        for row in page.rows where row.tests.isEmpty && row.cells[2] != "–" {
            #expect(accounted.contains("\n- \(row.number): "), "row \(row.number)")
        }
    }

    @Test func theCasesAreTheSimulators() throws {
        let other = try ConformancePage("Sources/APNSSimulator/Documentation.docc/SimulatorConformance.md", columns: 5)
        #expect(page.rows.map { $0.cells[1] } == other.rows.map { $0.cells[1] })
    }
}
