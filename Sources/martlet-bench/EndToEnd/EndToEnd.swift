import AMQP
import TestKit

/// A measurement of baselines and workers, in alternation, while each program empties a filled queue.
struct EndToEnd {
    private let options: EndToEndOptions

    init(_ options: EndToEndOptions) {
        self.options = options
    }

    func run(_ programs: [BenchProgram] = BenchProgram.consumers) async throws -> Comparison {
        guard BenchMessage(round: 0).message(0, queue: "").body.count == BenchMessage.bytes else {
            throw ProcessError("BenchMessage.bytes must be the size of the default request")
        }
        MartletBench.log("private broker and simulator starting")
        let fixture = try await WorkerFixture(
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
        try await comparison.collectSamples(options.samples) { program, round in
            try await measure(program, on: fixture, options.message(round: round))
        }
        try await fixture.end()
        return comparison
    }

    private func measure(
        _ program: BenchProgram, on fixture: WorkerFixture, _ message: BenchMessage
    ) async throws -> Measurement {
        guard let baseline = program.baseline else {
            let sample = WorkerSample(options: options, fixture: fixture)
            try await fixture.refill(sample.total, message, inShards: true)
            return try await sample.measure()
        }
        try await fixture.refill(options.messages, message)
        let run = try await ProgramRun.measuringPeers(fixture.peerTimes) {
            try await .running(baseline.command(options.messages, options, fixture))
        }
        return try run.measurement(of: options.messages, beyond: nil)
    }
}
