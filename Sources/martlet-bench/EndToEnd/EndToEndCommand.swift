import CommandKit

/// The command `end-to-end`, which measures workers from queue to result.
struct EndToEndCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["end-to-end"],
        summary: "Measure workers that push from a queue of a private RabbitMQ to apns-simulator over TLS.",
        discussion: """
            The baseline baseline-relay consumes, publishes with confirms and acknowledges. The baseline baseline-worker also
            pushes, but validates nothing.
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
        help: "warm-up requests per sample (\(EndToEndOptions().warmUp))")
}
