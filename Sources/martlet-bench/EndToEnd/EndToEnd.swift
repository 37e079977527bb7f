import AMQP
import TestKit

/// Fills a queue and has it emptied by the floors and by workers in turns.
struct EndToEnd {
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
            apps: BenchMessage.bundleIDs(options.apps), simulator: ["--delay-ms", "\(options.delayMilliseconds)"],
            more: """
                limits: {in_flight_max: \(options.inFlight)}
                lanes: \(options.lanes)
                """)
        var report = EndToEndReport(options: options)
        var round = 0
        for sample in 1...options.samples {
            for program in BenchProgram.allCases {
                round += 1
                let measurement = try await measure(program, on: stage, round: round)
                report.samples[program, default: []].append(measurement)
                MartletBench.note("\(sample)/\(options.samples)  \(EndToEndReport.line(program, measurement))")
            }
        }
        try await stage.end()
        return report
    }

    private func measure(_ program: BenchProgram, on stage: WorkerStage, round: Int) async throws -> Measurement {
        guard let floor = program.floor else {
            try await fill(stage, options.warmUp + options.messages, round: round)
            return try await WorkerSample(options: options, stage: stage).measure()
        }
        try await fill(stage, options.messages, round: round)
        return try await floor.measure(options, on: stage)
    }

    /// Empties both queues, then fills that of the requests.
    private func fill(_ stage: WorkerStage, _ count: Int, round: Int) async throws {
        try await stage.purge()
        try await stage.fill(
            count, BenchMessage(round: round, apps: options.apps, payloadBytes: options.payloadBytes))
    }
}
