import AMQP
import TestKit

/// Fills a queue and has it emptied by the floor and by a worker in turns.
struct EndToEnd {
    /// How long one sample may take.
    private static let sampleSecondsMax = 600

    private let options: EndToEndOptions

    init(_ options: EndToEndOptions) {
        self.options = options
    }

    func run() async throws -> EndToEndReport {
        guard BenchMessage(round: 0).message(0, queue: "").body.count == BenchMessage.bytes else {
            throw ProcessError("the message has not \(BenchMessage.bytes) bytes")
        }
        MartletBench.note("Starting a private broker and the simulator")
        let stage = try await WorkerStage(
            more: """
                limits: {in_flight_max: \(options.inFlight)}
                lanes: 1
                """)

        var floor: [Measurement] = []
        var worker: [Measurement] = []
        for sample in 1...options.samples {
            floor.append(try await measureFloor(stage, round: 2 * sample))
            MartletBench.note("\(sample)/\(options.samples)  \(EndToEndReport.line("floor", floor[sample - 1]))")
            worker.append(try await measureWorker(stage, round: 2 * sample + 1))
            MartletBench.note("\(sample)/\(options.samples)  \(EndToEndReport.line("martlet", worker[sample - 1]))")
        }
        try await stage.end()
        return EndToEndReport(options: options, floor: floor, worker: worker)
    }

    /// Empties both queues, then fills that of the requests.
    private func fill(_ stage: WorkerStage, _ count: Int, round: Int) async throws {
        for queue in [WorkerStage.requests, WorkerStage.results] { try await stage.purge(queue) }
        try await stage.fill(count, round: round)
    }

    /// It measures its own rate, from the first message on; what it cost is the kernel's count of the whole process.
    private func measureFloor(_ stage: WorkerStage, round: Int) async throws -> Measurement {
        try await fill(stage, options.messages, round: round)
        let brokerBefore = await stage.broker.processorTime()
        let relay = try await ChildProcess([
            Products.executable("floor-relay"), "\(options.messages)", "--port", "\(stage.broker.port)", "--prefetch",
            "\(options.inFlight)", "--in", WorkerStage.requests, "--out", WorkerStage.results,
        ])
        var peakBytes = 0
        while relay.isRunning {
            peakBytes = max(peakBytes, relay.peakResidentBytes)
            try await Task.sleep(for: .milliseconds(20))
        }
        let exit = try await relay.exit(within: .seconds(1))
        let brokerTime = await stage.broker.processorTime() - brokerBefore
        // relay: 100000 msgs 43000 msg/s cpu …
        let output = await relay.output.allLines()
        let words = output.first?.split(separator: " ") ?? []
        guard exit.status == .exited(0), words.count > 3, let rate = Double(words[3]) else {
            throw ProcessError("floor-relay: \(output + relay.errors.linesSoFar)")
        }
        let messages = Double(options.messages)
        let usage = exit.usage
        return Measurement(
            messagesPerSecond: rate, userMicroseconds: usage.userTime.microseconds / messages,
            systemMicroseconds: usage.systemTime.microseconds / messages,
            brokerMicroseconds: brokerTime.microseconds / messages, simulatorMicroseconds: 0,
            peakMegabytes: Double(peakBytes) / 1e6)
    }

    /// Looked at from outside: from the moment when the warm-up's results were there until all were.
    private func measureWorker(_ stage: WorkerStage, round: Int) async throws -> Measurement {
        try await fill(stage, options.warmUp + options.messages, round: round)
        let worker = try await stage.worker()
        let start = try await look(stage, worker, until: options.warmUp)
        let end = try await look(stage, worker, until: options.warmUp + options.messages)
        let peakBytes = worker.peakResidentBytes
        try await stage.end(worker)
        let left = try await stage.session.count(in: WorkerStage.requests)
        let told = try await stage.session.count(in: WorkerStage.results)
        guard left == 0, told == options.warmUp + options.messages else {
            throw ProcessError("\(left) requests are left, and \(told) results were told")
        }
        let messages = Double(end.results - start.results)
        let processor = end.worker.user + end.worker.system - start.worker.user - start.worker.system
        guard messages > 0 else { throw ProcessError("too few messages to measure anything") }
        // The kernel splits the time in ticks of 10 ms, but counts all of it exactly.
        let exact = (end.workerTime - start.workerTime).microseconds / messages
        let userShare =
            processor > .zero ? (end.worker.user - start.worker.user).microseconds / processor.microseconds : 1
        return Measurement(
            messagesPerSecond: messages / ((end.time - start.time).microseconds / 1e6),
            userMicroseconds: exact * userShare, systemMicroseconds: exact * (1 - userShare),
            brokerMicroseconds: (end.brokerTime - start.brokerTime).microseconds / messages,
            simulatorMicroseconds: (end.simulatorTime - start.simulatorTime).microseconds / messages,
            peakMegabytes: Double(peakBytes) / 1e6)
    }

    private struct Look {
        let time: ContinuousClock.Instant
        let results: Int
        let workerTime: Duration
        let worker: (user: Duration, system: Duration)
        let brokerTime: Duration
        let simulatorTime: Duration
    }

    /// Looks often until there are so many results.
    private func look(_ stage: WorkerStage, _ worker: ChildProcess, until count: Int) async throws -> Look {
        let deadline = ContinuousClock.now + .seconds(Self.sampleSecondsMax)
        while true {
            let results = try await stage.session.count(in: WorkerStage.results)
            let look = Look(
                time: .now, results: results, workerTime: worker.processorTime,
                worker: worker.splitProcessorTime, brokerTime: await stage.broker.processorTime(),
                simulatorTime: stage.simulator.processorTime)
            if results >= count { return look }
            guard worker.isRunning, look.time < deadline else {
                throw ProcessError("\(results) of \(count) results: \(worker.errors.linesSoFar.suffix(5))")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
