import TestKit

/// A measurement of one worker's memory over many requests.
///
/// The results are removed after each round, so that the broker's work stays the same.
struct WorkerSoak {
    private static let roundSecondsMax = 300
    private static let linesMax = 20

    private let options: SoakOptions

    init(_ options: SoakOptions) {
        self.options = options
    }

    func run() async throws -> MemoryGrowth {
        let fixture = try await WorkerFixture()
        let worker = try await fixture.worker()
        var growth = MemoryGrowth(of: Double(options.messages))
        var (round, done) = (0, 0)
        while done < options.messages {
            let count = min(options.messagesPerRound, options.messages - done)
            try await fixture.fill(count, BenchMessage(round: round))
            try await awaitResults(count, fixture, worker)
            (round, done) = (round + 1, done + count)
            growth.add(done: Double(done), megabytes: Double(worker.residentBytes) / 1e6)
            if let sample = growth.samples.last { MartletBench.log(Self.line(sample)) }
        }
        try await fixture.end(worker)
        try await fixture.end()
        return growth
    }

    /// Waits for `count` results, then removes them.
    private func awaitResults(_ count: Int, _ fixture: WorkerFixture, _ worker: ChildProcess) async throws {
        let deadline = ContinuousClock.now + .seconds(Self.roundSecondsMax)
        while true {
            let results = try await fixture.testClient.count(in: WorkerFixture.results)
            if results == count { break }
            guard worker.isRunning, results < count, ContinuousClock.now < deadline else {
                throw ProcessError("expected \(count) results, got \(results): \(worker.errors.linesSoFar.suffix(5))")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        try await fixture.purge()
    }

    static func table(_ growth: MemoryGrowth) -> String {
        let step = max(1, growth.samples.count / linesMax)
        let rows = growth.samples.enumerated().filter { ($0.offset + 1).isMultiple(of: step) }.map { line($0.element) }
        return """
              requests   resident MB
            \(rows.joined(separator: "\n"))

            Memory at the end: \(Figures.decimal(growth.factor ?? 0, places: 2)) times the memory after a tenth of the requests.
            """
    }

    private static func line(_ sample: MemoryGrowth.Sample) -> String {
        Figures.cell(sample.done, places: 0, width: 10) + Figures.cell(sample.megabytes, places: 1, width: 14)
    }
}
