import APNSProtocol
import TestKit

/// One of the C programs that do the least: `floor-relay`, which only consumes, publishes and acknowledges, and
/// `floor-worker`, which pushes too. It measures its own rate, from the first message on; what it cost is the kernel's count
/// of the whole process.
enum Floor: String {
    case relay = "floor-relay"
    case worker = "floor-worker"

    /// It ends after so many messages.
    func command(_ messages: Int, _ options: EndToEndOptions, _ stage: WorkerStage) throws -> [String] {
        let common = [
            try Products.executable(rawValue), "\(messages)", "--port", "\(stage.broker.port)", "--prefetch",
            "\(options.inFlight)", "--in", WorkerStage.requests,
        ]
        switch self {
        case .relay: return common + ["--out", WorkerStage.results]
        case .worker:
            return common + [
                "--exchange", WorkerStage.results, "--apns", "\(stage.apnsPort)", "--authority", stage.authorityFile,
                "--authorization-file", try stage.writeAuthorization(), "--push-type",
                BenchMessage.pushType(payloadBytes: options.payloadBytes).rawValue,
            ]
        }
    }
}
