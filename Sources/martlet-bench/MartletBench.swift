import CommandKit
import Glibc

/// Benchmarks of the whole and of its parts. Figures count only within one run: see the baseline beside them.
@main struct MartletBench {
    static func main() { exit(Program.bench.run(Array(CommandLine.arguments.dropFirst())).rawValue) }

    /// Progress, for people.
    static func note(_ text: String) { Terminal.error.line(text) }
}

extension Program {
    static let bench = Program(
        name: "martlet-bench", version: "0.1.0", summary: "measures Martlet beside a baseline",
        introduction: """
            Measures beside a baseline: a C program that does the least that the work could cost. Both in turns; the median
            of all samples counts. Figures of other runs say little.

            Build first: deploy/build, as it is shipped; for instructions: deploy/check/simulate 100.
            """,
        commands: [
            EndToEndCommand.self, GrowthCommand.self, LatencyCommand.self, AMQPCommand.self, APNSCommand.self,
            SimulatorLoadCommand.self, SchemaBenchCommand.self, SoakCommand.self, InstructionsCommand.self,
            RelayClientCommand.self, PushClientCommand.self, CountedLaneCommand.self,
        ],
        exitCodes: [
            (.success, "measured"), (.failed, "something failed, or costs more than it may"), (.usage, "wrong usage"),
        ],
        hasDocumentOptions: true)
}
