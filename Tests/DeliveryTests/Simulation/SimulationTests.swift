import EventLoop
import Glibc
import Testing

@testable import Delivery

@Suite(.serialized) struct SimulationTests {
    /// `MARTLET_SEEDS` asks for more, `MARTLET_SEED` for one: the message of a failure names it.
    private static var seeds: [UInt64] {
        if let seed = environment("MARTLET_SEED") { return [seed] }
        return Array(1...(environment("MARTLET_SEEDS") ?? 100))
    }

    private static func environment(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }

    @Test func whatIsPromisedHoldsUnderEverySeed() async throws {
        for seed in Self.seeds {
            let report = try await run(Simulation(seed: seed))
            let violations = SimulationJudge(report: report).violations()
            #expect(violations.isEmpty, "MARTLET_SEED=\(seed): \(violations.prefix(5))")
        }
    }

    @Test func anAcknowledgementBeforeTheConfirmIsNoticed() async throws {
        var noticed = 0
        for seed in 1...10 as ClosedRange<UInt64> {
            let report = try await run(
                Simulation(seed: seed, defects: LaneDefects(acknowledgesBeforeConfirm: true)))
            if !SimulationJudge(report: report).violations().isEmpty { noticed += 1 }
        }
        #expect(noticed > 5)
    }

    @Test func theSameSeedGivesTheSameHistoryInAnotherProcess() async throws {
        let history = try await run(Simulation(seed: 7)).history
        #expect(try await run(Simulation(seed: 8)).history != history)
        await #expect(processExitsWith: .success) { [history = history as UInt64] in
            guard try Simulation(seed: 7).run().history == history else { exit(1) }
        }
    }

    /// On a thread of its own: the run does not wait for anything, so it would hold up the tests' pool.
    private func run(_ simulation: Simulation) async throws -> Simulation.Report {
        try await DetachedThread.run { UncheckedBox(Result { try simulation.run() }) }.value.get()
    }
}

/// A report is looked at only after the thread that made it has ended.
private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
