import CommandKit

/// The command `amqp`, which measures the AMQP client.
struct AMQPCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["amqp"],
        summary: "Compare the AMQP client with baseline-relay on a private RabbitMQ.",
        discussion: "The figures exclude the cost of a warm-up run.",
        options: [
            .messages(EndToEndOptions().messages), .warmUp, .setting(.inFlight), .setting(.payloadBytes),
            .samples(EndToEndOptions().samples), .quick, .json,
        ])

    let options: EndToEndOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try EndToEndOptions(parsed) }

    func measure() async throws {
        let comparison = try await AMQPClient(options).run()
        print(options.wantsJSON ? comparison.json : comparison.table)
    }
}

/// The command of the process that ``AMQPCommand`` measures.
struct RelayClientCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: [RelayClient.name], summary: "Consume requests and publish results without pushing.",
        options: [
            OptionSyntax(name: "port", value: "N", help: "port of the broker", isRequired: true),
            .messages(EndToEndOptions().messages), .setting(.inFlight),
        ], isHidden: true)

    let options: EndToEndOptions
    let port: UInt16

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = try EndToEndOptions(parsed)
        port = try parsed.port()
    }

    func measure() async throws { print(try await RelayClient.run(options, port: port)) }
}
