import TestKit

/// Has our client of APNs and h2load push the same to the same server in turns. Each is a process of its own, which ends
/// once all is answered.
struct APNSClient {
    /// Of h2load's processor time.
    private static let costMax = 2.5

    private let options: RequestOptions

    init(_ options: RequestOptions) {
        self.options = options
    }

    func run() async throws -> Comparison {
        let directory = try TemporaryDirectory("bench")
        // Only to make the key and the certificate.
        let simulator = try await SimulatorProcess(in: directory)
        try await simulator.process.terminate()
        let sink = try await BaselineSink(in: directory)
        let h2load = try LoadGenerator(options, authorization: simulator.authorization(), in: directory)
        var comparison = Comparison(
            "apns", options.description,
            [
                "requests": options.requests, "connections": options.connections, "streams": options.streams,
                "payload_bytes": options.payloadBytes,
            ], unit: .request, programs: [.h2load, .martlet])
        comparison.costMax = Self.costMax
        try await comparison.takeTurns(options.samples) { program, _ in
            func run(_ requests: Int) async throws -> ProgramRun {
                try await ProgramRun.watching({ [.server: sink.process.processorTime] }) {
                    guard program == .h2load else {
                        return try await .of(
                            PushClient.command(requests, options, port: sink.port, directory: directory.path))
                    }
                    let run = try await h2load.run(requests, port: sink.port)
                    return ProgramRun(
                        perSecond: run.requestsPerSecond, usage: run.usage, peakBytes: run.peakBytes)
                }
            }
            let warmUp = try await run(options.warmUp)
            return try await run(options.warmUp + options.requests)
                .measurement(of: options.requests, beyond: warmUp)
        }
        try await sink.end()
        return comparison
    }
}
