import Telemetry
import TestKit
import Testing

/// The agreement of the page about logs with the events in the code.
@Suite struct OperatorPagesTests {
    @Test func everyEventIsDocumented() throws {
        let rows = try Files.lines(of: Products.file("Sources/Documentation/Operators/Logs.md")).filter {
            $0.hasPrefix("| `")
        }
        let documented = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([a-z_.]+)`/).map { String($0.output.1) }
        }
        #expect(Set(documented) == Set(LogEvent.allCases.map(\.rawValue)))
        #expect(documented.count == Set(documented).count)
    }
}
