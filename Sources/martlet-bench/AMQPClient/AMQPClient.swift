import TestKit

/// Has our client of AMQP and `baseline-relay` do the same with the same queues in turns. Each is a process of its own, which
/// ends once all is done.
struct AMQPClient {
    private let options: EndToEndOptions

    init(_ options: EndToEndOptions) {
        self.options = options
    }

    func run() async throws -> Comparison {
        MartletBench.note("Starting a private broker")
        let fixture = try await WorkerFixture()
        var comparison = Comparison(
            "amqp",
            """
            \(options.messages) messages of \(options.messageBytes) bytes a sample, \(options.inFlight) in flight, \
            quorum queues; median of \(options.samples)
            """,
            [
                "messages": options.messages, "message_bytes": options.messageBytes, "in_flight": options.inFlight,
            ], unit: .message, programs: [.baselineRelay, .martlet])
        try await comparison.takeTurns(options.samples) { program, round in
            func run(_ messages: Int, round: Int) async throws -> ProgramRun {
                try await fixture.refill(messages, options.message(round: round))
                let command =
                    try program.baseline?.command(messages, options, fixture)
                    ?? RelayClient.command(messages, options, fixture.broker.port)
                let run = try await ProgramRun.watching({ [.broker: await fixture.broker.processorTime()] }) {
                    try await .of(command)
                }
                try await fixture.expectDone(messages)
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
