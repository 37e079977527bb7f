import EventLoop
import Glibc
import Testing
import Threads

@testable import Delivery

@Suite(.serialized) struct SimulationTests {
    /// The seeds to run. `MARTLET_SEEDS` sets the number of seeds, `MARTLET_SEED_FIRST` the first seed, and
    /// `MARTLET_SEED` a single seed, whose story is printed. The message of a failure names the seed.
    /// `MARTLET_SEED_MESSAGES` sets the number of requests in a run. With `MARTLET_STOPS`, the test stops at the first
    /// failure.
    private static var seeds: [UInt64] {
        if let seed = environment("MARTLET_SEED") { return [seed] }
        let first = environment("MARTLET_SEED_FIRST") ?? 1
        return Array(first..<(first + (environment("MARTLET_SEEDS") ?? 3)))
    }

    private static func environment(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }

    @Test func promisesHoldUnderEverySeed() async throws {
        let messages = Self.environment("MARTLET_SEED_MESSAGES").map { Int($0) } ?? Simulation.messagesUsual
        for seed in Self.seeds {
            let report = try await run(Simulation(seed: seed, messages: messages))
            let violations = SimulationOracle(report: report).violations()
            #expect(violations.isEmpty, "MARTLET_SEED=\(seed): \(violations.prefix(5).joined(separator: "; "))")
            if Self.environment("MARTLET_SEED") != nil { print(report.story) }
            if !violations.isEmpty, Self.environment("MARTLET_STOPS") != nil { break }
        }
    }

    @Test func theSameSeedGivesTheSameHistoryInAnotherProcess() async throws {
        let history = try await run(Simulation(seed: 7)).history
        #expect(try await run(Simulation(seed: 8)).history != history)
        await #expect(processExitsWith: .success) { [history = history as UInt64] in
            guard try Simulation(seed: 7).run().history == history else { exit(1) }
        }
    }

    /// Runs a simulation on a separate thread, because it never suspends and would block the thread pool of the tests.
    private func run(_ simulation: Simulation) async throws -> SimulationReport {
        try await DetachedThread.run { UncheckedBox(Result { try simulation.run() }) }.value.get()
    }
}

/// The result of a simulation that ran on its own thread.
///
/// `@unchecked Sendable`: the report is read only after its thread has ended.
private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
