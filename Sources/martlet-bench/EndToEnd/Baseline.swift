import APNSProtocol
import TestKit

/// A minimal C program that does the work of a worker or a part of the work.
///
/// `baseline-relay` consumes, publishes and acknowledges. `baseline-worker` also pushes. Each program measures its
/// own rate. The kernel reports the processor time of the whole process.
enum Baseline: String {
    case relay = "baseline-relay"
    case worker = "baseline-worker"

    /// Returns a command that exits after `messages` requests.
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
