import Glibc
import TestKit

/// A running `baseline-sink`, the minimal APNs server.
struct BaselineSink {
    let process: ChildProcess
    let port: Int

    /// Starts the server.
    ///
    /// - Parameter directory: The folder with the certificate and key of a simulator.
    init(in directory: TemporaryDirectory) async throws {
        process = try await ChildProcess([
            Products.executable("baseline-sink"), directory.file("server.pem"), directory.file("server-key.pem"),
        ])
        guard let port = Int(try await process.output.line { _ in true }) else {
            throw ProcessError("cannot start baseline-sink: no port in its output")
        }
        self.port = port
    }

    func end() async throws {
        _ = try await process.terminate(within: .seconds(5))
    }
}
