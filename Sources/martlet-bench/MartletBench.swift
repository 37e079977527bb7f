import CommandKit
import Glibc

/// Benchmarks of workers, of the simulator and of their parts. Only figures of the same run are comparable.
@main struct MartletBench {
    static func main() { exit(Program.bench.run(Array(CommandLine.arguments.dropFirst())).rawValue) }

    static func log(_ text: String) { Terminal.error.line(text) }
}

extension Program {
    static let bench = Program(
        name: "martlet-bench", version: "0.1.0", summary: "measure Martlet and baselines",
        introduction: """
            Most commands compare Martlet or its simulator with other programs, such as minimal C programs that do
            the same work. These programs run in alternation, and reports contain medians. Do not compare figures of
            different runs.

            Build martlet-bench with deploy/build. For the command instructions, build with
            deploy/check/simulate 100 instead.
            """,
        commands: [
            EndToEndCommand.self, GrowthCommand.self, LatencyCommand.self, AMQPCommand.self, APNSCommand.self,
            SimulatorLoadCommand.self, RegistrationsBenchCommand.self, HistoryBenchCommand.self,
            ConsoleBenchCommand.self, SchemaBenchCommand.self, SoakCommand.self,
            InstructionsCommand.self, RelayClientCommand.self, PushClientCommand.self, StoreClientCommand.self,
            CountedLaneCommand.self,
        ],
        exitCodes: [
            (.success, "success"), (.failed, "an error occurred, or a figure exceeds its limit"),
            (.usage, "usage error"),
        ],
        hasDocumentOptions: true)
}
