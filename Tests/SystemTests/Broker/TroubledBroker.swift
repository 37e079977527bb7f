import Crypto
import TestKit

/// A broker that tests may stop and trouble, and reach over TLS as well: not the one that others share.
struct TroubledBroker {
    /// That of `TroubledBrokerTests`.
    static var shared: PrivateBroker {
        get async throws { try await start.value.broker }
    }
    /// That of `ChangingWorkerTests`.
    static var ofChanges: PrivateBroker {
        get async throws { try await startOfChanges.value.broker }
    }
    /// PEM; what its `amqps` URL is trusted by.
    static var authority: String {
        get async throws { try await start.value.authority }
    }
    private static let start = Task { try await TroubledBroker() }
    private static let startOfChanges = Task { try await TroubledBroker() }

    private let broker: PrivateBroker
    private let authority: String
    /// Of its certificate's files.
    private let directory: TemporaryDirectory

    private init() async throws {
        directory = try TemporaryDirectory("troubled")
        let authority = try CertificateAuthority.make(name: "troubled-broker")
        let server = try authority.issueServer(dnsNames: ["localhost"], ipAddresses: [])
        self.authority = authority.certificatePEM
        broker = try await PrivateBroker(
            certificate: (
                directory.write("server.pem", server.certificatePEM),
                directory.write("server-key.pem", server.privateKeyPEM)
            ))
    }
}
