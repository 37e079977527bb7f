import CommandKit
import TestKit

/// The command `simulator`, which compares the processor time of apns-simulator and baseline-sink.
struct SimulatorLoadCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["simulator"],
        summary: "Compare apns-simulator with baseline-sink under load from h2load.",
        discussion: """
            The simulator validates and logs each request. The baseline answers 200 without validation. Without --quick, the
            command fails if the simulator needs more than \(SimulatorLoadReport.costMax) times the baseline's processor time.
            """,
        options: RequestOptions.syntax + [.samples(RequestOptions().samples), .quick, .json])

    let options: RequestOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try RequestOptions(parsed) }

    func measure() async throws {
        let report = try await SimulatorLoad(options).run()
        print(options.wantsJSON ? report.json : report.table)
        guard report.isWithinLimit else {
            throw ProcessError(
                "the simulator needs more than \(SimulatorLoadReport.costMax) times the baseline's processor time")
        }
    }
}
