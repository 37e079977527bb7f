import APNSProtocol
import TestKit

/// One of the C programs that do the least: `baseline-relay`, which only consumes, publishes and acknowledges, and
/// `baseline-worker`, which pushes too. It measures its own rate, from the first message on; what it cost is the kernel's count
/// of the whole process.
enum Baseline: String {
    case relay = "baseline-relay"
    case worker = "baseline-worker"

    /// It ends after so many messages.
    func command(_ messages: Int, _ options: EndToEndOptions, _ fixture: WorkerFixture) throws -> [String] {
        let common = [
            try Products.executable(rawValue), "\(messages)", "--port", "\(fixture.broker.port)", "--prefetch",
            "\(options.inFlight)", "--in", WorkerFixture.requests,
        ]
        switch self {
        case .relay: return common + ["--out", WorkerFixture.results]
        case .worker:
            return common + [
                "--exchange", WorkerFixture.results, "--apns", "\(fixture.apnsPort)", "--authority",
                fixture.authorityFile,
                "--authorization-file", try fixture.writeAuthorization(), "--push-type",
                BenchMessage.pushType(payloadBytes: options.payloadBytes).rawValue,
            ]
        }
    }
}
