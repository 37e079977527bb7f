import CommandKit
import TestKit

/// The command `instructions`, which counts the instructions per request.
struct InstructionsCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["instructions"],
        summary: "Count the instructions per request of a lane between scripted peers, with valgrind.",
        discussion: """
            The lane runs on virtual time, so every run has the same count. Without options, the command fails if the
            count exceeds the accepted count in deploy/check/instructions by more than
            \(InstructionCount.growthPercentMax) %.
            """,
        options: [
            InstructionOptions.apps, InstructionOptions.devices,
            OptionSyntax(name: "accept", help: "write the new count to deploy/check/instructions"),
        ])

    let options: InstructionOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try InstructionOptions(parsed) }

    func measure() async throws {
        let report = try await Instructions(options: options).run()
        print(report.table)
        if options.accepts { return try await Instructions.accept(report.count) }
        if let limitViolation = report.limitViolation { throw ProcessError(limitViolation) }
    }
}

/// The command of the process that callgrind measures.
///
/// It is not a ``Benchmark``, so that the lane's loop does not run inside an event loop of the main thread.
struct CountedLaneCommand: Command {
    static let name = "counted-lane"
    static let syntax = CommandSyntax(
        path: [name], summary: "Run a lane under callgrind.",
        options: [InstructionOptions.apps, InstructionOptions.devices], isHidden: true)

    let options: InstructionOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try InstructionOptions(parsed) }

    func run() -> ExitCode {
        do {
            try CountedLane(options).run()
            return .success
        } catch {
            MartletBench.log("martlet-bench: \(error)")
            return .failed
        }
    }
}
