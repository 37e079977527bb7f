import TestKit

/// h2load, pushing one alert to many devices.
struct LoadGenerator {
    /// How long one run may take.
    private static let secondsMax = 600

    private let options: SimulatorLoadOptions
    private let authorization: String
    private let directory: TemporaryDirectory
    private let payloadFile: String

    /// - Parameter authorization: the header's value.
    init(_ options: SimulatorLoadOptions, authorization: String, in directory: TemporaryDirectory) throws {
        self.options = options
        self.authorization = authorization
        self.directory = directory
        payloadFile = try directory.write(
            "payload.json",
            """
            {"aps":{"alert":{"title":"Game update","body":"Your team scored: 2 to 1 after a long attack"},\
            "sound":"default","badge":3,"interruption-level":"active"},"match":"4711","link":"https://example.com/m/47110"}
            """)
    }

    /// Pushes `requests` times; the rate in requests a second.
    ///
    /// - Throws: `ProcessError` unless each was answered with 200.
    func run(_ requests: Int, port: Int) async throws -> Double {
        let paths = try directory.write("paths.\(port)", Self.addresses(port: port))
        let result = try await ChildProcess.run(
            [
                "h2load", "--requests=\(requests)", "--clients=\(options.connections)",
                "--max-concurrent-streams=\(options.streams)", "--input-file=\(paths)", "--data=\(payloadFile)",
                "--header=authorization: \(authorization)", "--header=apns-topic: com.example.app",
                "--header=apns-push-type: alert", "--header=apns-priority: 10", "--header=apns-expiration: 1900000000",
                "--header=apns-id: 00000000-0000-4000-8000-000000000001",
            ], within: .seconds(Self.secondsMax))
        // requests: 20000 total, 20000 started, 20000 done, 20000 succeeded, 0 failed, 0 errored, 0 timeout
        // finished in 1.23s, 16260.16 req/s, 1.02MB/s
        let succeeded = result.output.contains { $0.hasPrefix("requests:") && $0.contains(" \(requests) succeeded,") }
        let words = result.output.first { $0.hasPrefix("finished in ") }?.split(separator: " ") ?? []
        guard result.exit.status == .exited(0), succeeded, words.count > 3, let rate = Double(words[3]) else {
            throw ProcessError("h2load: \((result.output + result.errors).suffix(12).joined(separator: "\n"))")
        }
        return rate
    }

    private static func addresses(port: Int) -> String {
        (0..<SimulatorLoadOptions.devices).map { number in
            let digits = String(number, radix: 16)
            let token = String(repeating: "0", count: 64 - digits.count) + digits
            return "https://127.0.0.1:\(port)/3/device/\(token)\n"
        }.joined()
    }
}
