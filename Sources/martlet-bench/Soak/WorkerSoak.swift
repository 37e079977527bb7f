import AMQP
import TestKit

/// Has one worker push a great many messages, and follows its memory. What it has done is taken away after each round, so
/// that the broker has no more to do at the end than at the beginning.
struct WorkerSoak {
    private static let (requests, results) = ("push.requests", "push.results")
    private static let roundSecondsMax = 300
    private static let linesMax = 20

    private let options: SoakOptions

    init(_ options: SoakOptions) {
        self.options = options
    }

    func run() async throws -> MemoryGrowth {
        let directory = try TemporaryDirectory("soak")
        let broker = try await PrivateBroker()
        let simulator = try await SimulatorProcess(in: directory)
        let configuration = try simulator.writeConfiguration(amqpURL: broker.url)
        try await MartletProcess.run("topology", "apply", "--config", configuration)
        let session = try await BrokerSession(broker.url)
        let worker = try await MartletProcess.worker(configuration: configuration)
        var growth = MemoryGrowth(of: Double(options.messages))
        var (round, done) = (0, 0)
        while done < options.messages {
            let count = min(options.messagesPerRound, options.messages - done)
            let template = BenchMessage(round: round)
            try await session.publish(count) { template.message($0, queue: Self.requests) }
            try await awaitResults(count, session, worker)
            (round, done) = (round + 1, done + count)
            growth.add(done: Double(done), megabytes: Double(worker.residentBytes) / 1e6)
            if let sample = growth.samples.last { MartletBench.note(Self.line(sample)) }
        }
        let exit = try await worker.terminate()
        guard exit.status == .exited(0) else { throw ProcessError("the worker ended with \(exit.status)") }
        await session.close()
        try await simulator.process.terminate()
        try await broker.end()
        return growth
    }

    /// Waits until there are so many, and takes them away.
    private func awaitResults(_ count: Int, _ session: BrokerSession, _ worker: ChildProcess) async throws {
        let deadline = ContinuousClock.now + .seconds(Self.roundSecondsMax)
        while true {
            let results = try await session.count(in: Self.results)
            if results == count { break }
            guard worker.isRunning, results < count, ContinuousClock.now < deadline else {
                throw ProcessError("\(results) of \(count) results: \(worker.errors.linesSoFar.suffix(5))")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        _ = try await session.administer { try await $0.purge(Self.results) }
    }

    static func table(_ growth: MemoryGrowth) -> String {
        let step = max(1, growth.samples.count / linesMax)
        let rows = growth.samples.enumerated().filter { ($0.offset + 1).isMultiple(of: step) }.map { line($0.element) }
        return """
              messages   resident MB
            \(rows.joined(separator: "\n"))

            At the end \(Figures.decimal(growth.factor ?? 0, places: 2)) times what it held after a tenth of the messages.
            """
    }

    private static func line(_ sample: MemoryGrowth.Sample) -> String {
        Figures.cell(sample.done, places: 0, width: 10) + Figures.cell(sample.megabytes, places: 1, width: 14)
    }
}
