import CommandKit

/// Measures workers from queue to result.
struct EndToEndCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["end-to-end"],
        summary: "Have workers send a queue of a private RabbitMQ to apns-simulator over TLS.",
        discussion: """
            Of the baselines, baseline-relay consumes, publishes with confirm and acknowledges; baseline-worker pushes too, and
            validates nothing.
            """,
        options: [.messages(EndToEndOptions().messages), .warmUp] + WorkSetting.allCases.map { .setting($0) } + [
            .samples(EndToEndOptions().samples), .quick, .json,
        ])

    let options: EndToEndOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try EndToEndOptions(parsed) }

    func measure() async throws {
        let comparison = try await EndToEnd(options).run()
        print(options.wantsJSON ? comparison.json : comparison.table)
    }
}

extension OptionSyntax {
    static let warmUp = OptionSyntax(
        name: "warm-up", value: "N",
        help: "messages before a sample of the workers begins (\(EndToEndOptions().warmUp))")
}
