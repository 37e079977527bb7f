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
            try await fixture.awaitResults(count, of: worker, secondsMax: Self.roundSecondsMax)
            try await fixture.purge()
            (round, done) = (round + 1, done + count)
            growth.add(done: Double(done), megabytes: Double(worker.residentBytes) / 1e6)
            if let sample = growth.samples.last { MartletBench.log(Self.line(sample)) }
        }
        try await fixture.end(worker)
        try await fixture.end()
        return growth
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
