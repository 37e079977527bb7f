import CommandKit
import TestKit

/// Counts the instructions that a message costs.
struct InstructionsCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["instructions"],
        summary: "Have valgrind count what a message costs a lane between scripted peers on virtual time.",
        discussion: """
            Every run counts the same. Fails when that is over \(InstructionCount.growthPercentMax) % more than
            deploy/check/instructions says.
            """,
        options: [
            InstructionOptions.apps,
            OptionSyntax(name: "accept", help: "write the count to deploy/check/instructions instead"),
        ])

    let options: InstructionOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try InstructionOptions(parsed) }

    func measure() async throws {
        let report = try await Instructions(options: options).run()
        print(report.table)
        if options.accepts { return try await Instructions.accept(report.count) }
        if let objection = report.objection { throw ProcessError(objection) }
    }
}

/// The process in which callgrind counts. No event loop of the main thread surrounds the lane's.
struct CountedLaneCommand: Command {
    static let name = "counted-lane"
    static let syntax = CommandSyntax(
        path: [name], summary: "Run a lane that callgrind counts.", options: [InstructionOptions.apps], isHidden: true)

    let options: InstructionOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try InstructionOptions(parsed) }

    func run() -> ExitCode {
        do {
            try CountedLane(options).run()
            return .success
        } catch {
            MartletBench.note("martlet-bench: \(error)")
            return .failed
        }
    }
}
