import TestKit

/// The processor time of a worker with and without a journal, in alternation.
struct WorkerJournal {
    /// The number of measured requests per request of the warm-up.
    private static let warmUpShare = 10

    let options: ConsoleOptions
    /// Workers without and with a journal.
    let plain: WorkerFixture
    let journal: WorkerFixture

    func run(_ report: inout ConsoleReport) async throws {
        var samples: (plain: [Measurement], journal: [Measurement]) = ([], [])
        for sample in 1...options.samples {
            samples.plain.append(try await measure(plain, round: 2 * sample))
            samples.journal.append(try await measure(journal, round: 2 * sample + 1))
            MartletBench.log("\(sample)/\(options.samples)  worker without and with a journal")
        }
        let (without, with) = (Measurement.median(samples.plain), Measurement.median(samples.journal))
        let more = with.processorMicroseconds / without.processorMicroseconds - 1
        report.goals.append(Goal("2. journal, % more of a worker's time a result", more * 100, .atMost(2)))
        let broker = (with.peerMicroseconds[.broker] ?? 0) - (without.peerMicroseconds[.broker] ?? 0)
        report.figures += [
            Figure(
                title: "worker without a journal, µs a result", key: "worker_us",
                value: without.processorMicroseconds, places: 2),
            Figure(title: "journal, µs of the broker a result", key: "journal_broker_us", value: broker, places: 2),
        ]
    }

    private func measure(_ fixture: WorkerFixture, round: Int) async throws -> Measurement {
        var work = EndToEndOptions()
        work.messages = options.messages
        work.warmUp = work.messages / Self.warmUpShare
        let sample = WorkerSample(options: work, fixture: fixture)
        try await fixture.refill(sample.total, BenchMessage(round: round))
        return try await sample.measure()
    }
}
