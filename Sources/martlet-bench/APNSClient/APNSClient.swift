import TestKit

/// A comparison of Martlet's APNs client with h2load on the same server.
///
/// Each sample starts two processes, one for the warm-up and one for the measurement. A process exits when all its
/// requests are answered.
struct APNSClient {
    /// The goal for Martlet's processor time, as a multiple of h2load's processor time.
    private static let costMax = 2.5

    private let options: RequestOptions

    init(_ options: RequestOptions) {
        self.options = options
    }

    func run() async throws -> Comparison {
        let directory = try TemporaryDirectory("bench")
        // The simulator only creates the key and the certificate.
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
        try await comparison.collectSamples(options.samples) { program, _ in
            func run(_ requests: Int) async throws -> ProgramRun {
                try await ProgramRun.measuringPeers({ [.server: sink.process.processorTime] }) {
                    guard program == .h2load else {
                        return try await .running(
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
