import Glibc
import TestKit

/// `baseline-sink`, the least that an APNs could cost, as a process.
struct BaselineSink {
    let process: ChildProcess
    let port: Int

    /// - Parameter directory: where a simulator has left its certificate.
    init(in directory: TemporaryDirectory) async throws {
        process = try await ChildProcess([
            Products.executable("baseline-sink"), directory.file("server.pem"), directory.file("server-key.pem"),
        ])
        guard let port = Int(try await process.output.line { _ in true }) else {
            throw ProcessError("baseline-sink has no port")
        }
        self.port = port
    }

    func end() async throws {
        _ = try await process.terminate(within: .seconds(5))
    }
}
