import CommandKit

/// The command `apns`, which measures the APNs client.
struct APNSCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["apns"],
        summary: "Compare the APNs client (pool, provider token, HTTP/2, TLS) with h2load on baseline-sink.",
        discussion: """
            Print the processor time per request as a multiple of h2load's processor time. The figures exclude the
            cost of a warm-up run.
            """,
        options: RequestOptions.syntax + [.samples(RequestOptions().samples), .quick, .json])

    let options: RequestOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try RequestOptions(parsed) }

    func measure() async throws {
        let comparison = try await APNSClient(options).run()
        print(options.wantsJSON ? comparison.json : comparison.table)
    }
}

/// The command of the process that ``APNSCommand`` measures.
struct PushClientCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: [PushClient.name], summary: "Push to baseline-sink.",
        options: [
            OptionSyntax(name: "port", value: "N", help: "port of baseline-sink", isRequired: true),
            OptionSyntax(
                name: "folder", value: "DIR", help: "folder with the simulator's demonstration files", isRequired: true,
                values: .folders),
        ] + RequestOptions.syntax, isHidden: true)

    let options: RequestOptions
    let place: PushClient.Place

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = try RequestOptions(parsed)
        place = PushClient.Place(port: try parsed.port(), directory: parsed.required("folder"))
    }

    func measure() async throws { print(try await PushClient.run(options, at: place)) }
}

extension ParsedArguments {
    /// Returns the value of the required option `--port`.
    func port() throws(UsageError) -> UInt16 {
        UInt16(try integer("port", upTo: Int(UInt16.max)) ?? 0)
    }
}
