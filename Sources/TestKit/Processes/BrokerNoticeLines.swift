extension [String] {
    /// The lines without the notices that a command prints if the broker takes longer than a second to respond.
    public var withoutBrokerNotices: [String] {
        let starts = ["martlet: waiting for the broker", "martlet: broker connected after "]
        return filter { line in !starts.contains { line.hasPrefix($0) } }
    }
}

extension ChildProcess {
    /// Runs a command that uses a broker. The returned errors omit the lines about a slow broker.
    public static func runAtBroker(
        _ command: [String]
    ) async throws(ProcessError) -> (exit: ChildExit, output: [String], errors: [String]) {
        var result = try await run(command)
        result.errors = result.errors.withoutBrokerNotices
        return result
    }
}
