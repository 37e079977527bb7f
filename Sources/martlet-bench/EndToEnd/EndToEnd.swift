import AMQP
import TestKit

/// Fills a queue and has it emptied by floors and by workers in turns.
struct EndToEnd {
    private let options: EndToEndOptions

    init(_ options: EndToEndOptions) {
        self.options = options
    }

    func run(_ programs: [BenchProgram] = BenchProgram.consumers) async throws -> Comparison {
        guard BenchMessage(round: 0).message(0, queue: "").body.count == BenchMessage.bytes else {
            throw ProcessError("the message has not \(BenchMessage.bytes) bytes")
        }
        MartletBench.note("Starting a private broker and the simulator")
        let stage = try await WorkerStage(
            apps: options.bundleIDs, keys: options.keys, shards: options.shards, nodes: options.nodes,
            simulator: ["--delay-ms", "\(options.delayMilliseconds)"],
            more: """
                limits: {in_flight_max: \(options.inFlight)}
                lanes: \(options.lanes)
                """)
        var comparison = Comparison(
            "end-to-end", options.description(),
            [
                "messages": options.messages, "message_bytes": options.messageBytes, "in_flight": options.inFlight,
                "delay_ms": options.delayMilliseconds, "apps": options.bundleIDs.count, "keys": options.keys,
                "lanes": options.lanes, "workers": options.workers, "shards": options.shards, "nodes": options.nodes,
            ], unit: .message, programs: programs)
        try await comparison.takeTurns(options.samples) { program, round in
            try await measure(program, on: stage, options.message(round: round))
        }
        try await stage.end()
        return comparison
    }

    private func measure(
        _ program: BenchProgram, on stage: WorkerStage, _ message: BenchMessage
    ) async throws -> Measurement {
        guard let floor = program.floor else {
            let sample = WorkerSample(options: options, stage: stage)
            try await stage.refill(sample.total, message, inShards: true)
            return try await sample.measure()
        }
        try await stage.refill(options.messages, message)
        let run = try await ProgramRun.watching(stage.peerTimes) {
            try await .of(floor.command(options.messages, options, stage))
        }
        return try run.measurement(of: options.messages, beyond: nil)
    }
}
