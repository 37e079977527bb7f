import TestKit

/// A comparison of Martlet's AMQP client with `baseline-relay` on the same queues.
///
/// Each sample starts a process for the warm-up, if any, and a process for the measurement. A process exits when it has
/// relayed all its messages.
struct AMQPClient {
    private let options: EndToEndOptions

    init(_ options: EndToEndOptions) {
        self.options = options
    }

    func run() async throws -> Comparison {
        MartletBench.log("private broker starting")
        let fixture = try await WorkerFixture()
        var comparison = Comparison(
            "amqp",
            """
            \(options.messages) requests of \(options.messageBytes) bytes per sample, \(options.inFlight) in flight, \
            quorum queues; median of \(options.samples)
            """,
            [
                "messages": options.messages, "message_bytes": options.messageBytes, "in_flight": options.inFlight,
            ], unit: .message, programs: [.baselineRelay, .martlet])
        try await comparison.collectSamples(options.samples) { program, round in
            func run(_ messages: Int, round: Int) async throws -> ProgramRun {
                try await fixture.refill(messages, options.message(round: round))
                let command =
                    try program.baseline?.command(messages, options, fixture)
                    ?? RelayClient.command(messages, options, fixture.broker.port)
                let run = try await ProgramRun.measuringPeers({ [.broker: await fixture.broker.processorTime()] }) {
                    try await .running(command)
                }
                try await fixture.expectCompleted(messages)
                return run
            }
            let warmUp = options.warmUp > 0 ? try await run(options.warmUp, round: 2 * round) : nil
            return try await run(options.warmUp + options.messages, round: 2 * round + 1)
                .measurement(of: options.messages, beyond: warmUp)
        }
        try await fixture.end()
        return comparison
    }
}
