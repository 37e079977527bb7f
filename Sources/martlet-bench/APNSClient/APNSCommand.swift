import CommandKit

/// Measures the APNs client.
struct APNSCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["apns"],
        summary:
            "Have the APNs client alone (pool, provider token, HTTP/2, TLS) and h2load push the same to baseline-sink.",
        discussion: """
            Says how many times h2load's processor time a request costs. The cost of a run of the warm-up alone is left out.
            """,
        options: RequestOptions.syntax + [.samples(RequestOptions().samples), .quick, .json])

    let options: RequestOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try RequestOptions(parsed) }

    func measure() async throws {
        let comparison = try await APNSClient(options).run()
        print(options.wantsJSON ? comparison.json : comparison.table)
    }
}

/// The process that ``APNSCommand`` measures.
struct PushClientCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: [PushClient.name], summary: "Push to baseline-sink.",
        options: [
            OptionSyntax(name: "port", value: "N", help: "of baseline-sink", isRequired: true),
            OptionSyntax(
                name: "folder", value: "DIR", help: "with the simulator's demonstration", isRequired: true,
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
    /// The value of a required option.
    func port() throws(UsageError) -> UInt16 {
        UInt16(try integer("port", upTo: Int(UInt16.max)) ?? 0)
    }
}
