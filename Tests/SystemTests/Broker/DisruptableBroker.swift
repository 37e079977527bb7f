import Crypto
import TestKit

/// A broker that tests may stop and disrupt, and that also accepts TLS.
///
/// `BrokerFaultTests` and `ChangingWorkerTests` each have their own broker.
struct DisruptableBroker {
    /// The broker of `BrokerFaultTests`.
    static var shared: PrivateBroker {
        get async throws { try await start.value.broker }
    }
    /// The broker of `ChangingWorkerTests`.
    static var forChangingWorkers: PrivateBroker {
        get async throws { try await startForChangingWorkers.value.broker }
    }
    /// The authority that issued the TLS certificate of the broker of `BrokerFaultTests`, in PEM.
    static var authority: String {
        get async throws { try await start.value.authority }
    }
    private static let start = Task { try await DisruptableBroker() }
    private static let startForChangingWorkers = Task { try await DisruptableBroker() }

    private let broker: PrivateBroker
    private let authority: String
    /// The folder of the TLS certificate's files.
    private let directory: TemporaryDirectory

    private init() async throws {
        directory = try TemporaryDirectory("disruptable")
        let authority = try CertificateAuthority.make(name: "disruptable-broker")
        let server = try authority.issueServer(dnsNames: ["localhost"], ipAddresses: [])
        self.authority = authority.certificatePEM
        broker = try await PrivateBroker(
            certificate: (
                directory.write("server.pem", server.certificatePEM),
                directory.write("server-key.pem", server.privateKeyPEM)
            ))
    }
}
