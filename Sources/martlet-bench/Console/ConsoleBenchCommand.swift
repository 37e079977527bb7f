import CommandKit

/// The command `console`, which measures the console, its history and fleet control.
struct ConsoleBenchCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["console"],
        summary: "Measure the console, its history and fleet control.",
        discussion: """
            The benchmark fills a history as the command history does, and starts a private RabbitMQ, an apns-simulator,
            a console and simulated workers with one connection each. It measures the processor time of the broker for the
            workers' reports, the time until a pause is in force, the API while the console indexes 10,000 results a
            second, the cost of the journal for a real worker, and the memory of the console. It prints each goal with the
            measured value, and fails if a goal is not met.

            The goals apply to ten million results: martlet-bench console --rows 10000000
            """,
        options: [
            ConsoleOptions.rowsOption,
            OptionSyntax(
                name: "seconds", value: "N",
                help: "duration of the measurement of the API, and half that of the broker (\(standard.seconds))"),
            OptionSyntax(name: "workers", value: "N", help: "simulated workers (\(standard.workers))"),
            .messages(standard.messages), .samples(standard.samples), .quick, .json,
        ])

    private static let standard = ConsoleOptions()

    let options: ConsoleOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try ConsoleOptions(parsed) }

    func measure() async throws { try await ConsoleBench(options: options).run().finish() }
}
