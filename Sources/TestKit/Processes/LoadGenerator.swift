/// h2load, which pushes one payload to many devices.
public struct LoadGenerator: Sendable {
    /// The timeout of one run.
    private static let secondsMax = 600

    /// The figures of a run in which all pushes succeeded.
    public struct Run: Sendable {
        public let requestsPerSecond: Double
        /// The resource usage of h2load itself.
        public let usage: ResourceUsage
        public let peakBytes: Int
    }

    /// The default payload, a typical alert.
    public static let payload = """
        {"aps":{"alert":{"title":"Game update","body":"Your team scored: 2 to 1 after a long attack"},\
        "sound":"default","badge":3,"interruption-level":"active"},"match":"4711","link":"https://example.com/m/47110"}
        """

    private let connections: Int
    private let streams: Int
    private let devices: Int
    private let authorization: String
    private let directory: TemporaryDirectory
    private let payloadFile: String

    /// Creates a load generator, and writes the payload to a file.
    ///
    /// - Parameters:
    ///   - streams: The number of concurrent streams on each connection.
    ///   - devices: The number of device tokens, which are used in rotation.
    ///   - authorization: The value of the `authorization` header.
    ///   - payload: The payload in JSON.
    public init(
        connections: Int, streams: Int, devices: Int, authorization: String, payload: String = Self.payload,
        in directory: TemporaryDirectory
    ) throws(ProcessError) {
        self.connections = connections
        self.streams = streams
        self.devices = devices
        self.authorization = authorization
        self.directory = directory
        payloadFile = try directory.write("payload.json", payload)
    }

    /// Pushes `requests` times.
    ///
    /// - Throws: `ProcessError` if h2load fails, or reports a push that did not succeed.
    public func run(_ requests: Int, port: Int) async throws(ProcessError) -> Run {
        let load = try await ChildProcess(command(port: port) + ["--requests=\(requests)"])
        let (exit, peakBytes) = try await load.exitAndPeak(within: .seconds(Self.secondsMax))
        let (output, errors) = (await load.output.allLines(), await load.errors.allLines())
        // requests: 20000 total, 20000 started, 20000 done, 20000 succeeded, 0 failed, 0 errored, 0 timeout
        // finished in 1.23s, 16260.16 req/s, 1.02MB/s
        let succeeded = output.contains { $0.hasPrefix("requests:") && $0.contains(" \(requests) succeeded,") }
        let words = output.first { $0.hasPrefix("finished in ") }?.split(separator: " ") ?? []
        guard exit.status == .exited(0), succeeded, words.count > 3, let rate = Double(words[3]) else {
            throw ProcessError("h2load: \((output + errors).suffix(12).joined(separator: "\n"))")
        }
        return Run(requestsPerSecond: rate, usage: exit.usage, peakBytes: peakBytes)
    }

    /// Pushes for a duration and ignores the responses.
    ///
    /// - Parameter requestsPerSecond: The rate of each connection.
    /// - Returns: Whether h2load exited by itself. If h2load still waits for responses 5 seconds after the duration,
    ///   this function kills h2load.
    public func run(for duration: Duration, requestsPerSecond: Int, port: Int) async throws(ProcessError) -> Bool {
        let load = try await ChildProcess(
            command(port: port) + [
                "--duration=\(duration.components.seconds)", "--rps=\(requestsPerSecond)",
                "--connection-inactivity-timeout=2",
            ], output: .nothing, errors: .nothing)
        do {
            _ = try await load.exit(within: duration + .seconds(5))
            return true
        } catch {
            return false
        }
    }

    private func command(port: Int) throws(ProcessError) -> [String] {
        let paths = try directory.write("paths.\(port)", addresses(port: port))
        return [
            "h2load", "--clients=\(connections)", "--max-concurrent-streams=\(streams)", "--input-file=\(paths)",
            "--data=\(payloadFile)", "--header=authorization: \(authorization)", "--header=apns-topic: com.example.app",
            "--header=apns-push-type: alert", "--header=apns-priority: 10", "--header=apns-expiration: 1900000000",
            "--header=apns-id: 00000000-0000-4000-8000-000000000001",
        ]
    }

    private func addresses(port: Int) -> String {
        (0..<devices).map { number in
            let digits = String(number, radix: 16)
            let token = String(repeating: "0", count: 64 - digits.count) + digits
            return "https://127.0.0.1:\(port)/3/device/\(token)\n"
        }.joined()
    }
}
