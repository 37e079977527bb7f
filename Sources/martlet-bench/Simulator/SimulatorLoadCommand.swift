import CommandKit
import TestKit

/// Measures the simulator.
struct SimulatorLoadCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["simulator"],
        summary: "Have h2load push to apns-simulator, which checks everything and keeps its log of requests.",
        discussion: """
            The baseline answers 200 and checks nothing. Fails when the simulator costs more than
            \(SimulatorLoadReport.costMax) times the baseline's processor time.
            """,
        options: RequestOptions.syntax + [.samples(RequestOptions().samples), .quick, .json])

    let options: RequestOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try RequestOptions(parsed) }

    func measure() async throws {
        let report = try await SimulatorLoad(options).run()
        print(options.wantsJSON ? report.json : report.table)
        guard report.isCheap else {
            throw ProcessError("it costs more than \(SimulatorLoadReport.costMax) times the baseline")
        }
    }
}
