import CommandKit
import TestKit

/// Measures parsing and validation.
struct SchemaBenchCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["schema"],
        summary: "Parse and validate the sample alert beside json.loads and jsonschema-rs in Python.",
        discussion: """
            Counts allocations with valgrind, too, and times what is made to cost much; fails when something takes longer
            than it may.
            """,
        options: [
            .samples(SchemaBenchOptions().samples), .quick, .json,
            OptionSyntax(name: "rounds", value: "N", help: "only parse and validate so often", isHidden: true),
        ])

    let options: SchemaBenchOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try SchemaBenchOptions(parsed) }

    func measure() async throws {
        let bench = SchemaBench(options: options)
        if let rounds = options.rounds { return try bench.repeatRounds(rounds) }
        let report = try await bench.run()
        print(options.wantsJSON ? report.json : report.table)
        guard report.failures.isEmpty else { throw ProcessError(report.failures.joined(separator: "; ")) }
    }
}
