import CommandKit
import TestKit

/// The command `schema`, which measures parsing and validation.
struct SchemaBenchCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["schema"],
        summary: "Compare parsing and validation of the sample alert with Python's json.loads and jsonschema-rs.",
        discussion: """
            Count allocations with valgrind, and measure expensive schemas and texts. The command fails if a figure exceeds
            its limit.
            """,
        options: [
            .samples(SchemaBenchOptions().samples), .quick, .json,
            OptionSyntax(name: "rounds", value: "N", help: "only parse and validate N times", isHidden: true),
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
