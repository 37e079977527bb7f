import Crypto
import EventLoop
import TLS
import TestKit

@testable import APNSSimulator

// Certificates that clients present in TLS.

extension Wire.Place {
    static let sandboxWithinTLS = Endpoint(host: "api.sandbox.push.apple.com", port: 2197)
}

extension Wire {
    /// Makes the sandbox also listen with TLS, and sets the simulator's clock to a time within the validity of the
    /// test certificates.
    func listenWithinTLS() throws {
        let server = try AppleAuthority.authority.issueServer(dnsNames: [Place.sandboxWithinTLS.host])
        var configuration = TLSServerConfiguration(
            identity: TLSIdentity(certificateChainPEM: server.certificatePEM, privateKeyPEM: server.privateKeyPEM),
            applicationProtocols: ["h2"])
        configuration.requestsAnyClientCertificate = true
        let context = try TLSContext(server: configuration)
        try loop.enter {
            apns.server.clockOffset = .seconds(Int64(CertificateTime.nowSeconds) - loop.now.unixSeconds)
            try apns.server.listen(on: Place.sandboxWithinTLS, as: .sandboxPush, tls: context)
        }
    }

    /// Opens a TLS connection with this client certificate, or without a certificate if `issued` is nil. Waits for
    /// the server's first frame or the end of the connection.
    func connect(showing issued: IssuedCertificate?) throws -> FramePeer {
        let identity = issued.map {
            TLSIdentity(certificateChainPEM: $0.certificatePEM, privateKeyPEM: $0.privateKeyPEM)
        }
        let context = try TLSContext(
            client: TLSClientConfiguration(
                trust: .pem(AppleAuthority.authority.certificatePEM), identity: identity, applicationProtocols: ["h2"]))
        let peer = FramePeer(.good)
        loop.enter {
            _ = TLSConnector(loop: loop, endpoint: Place.sandboxWithinTLS, context: context).connect(peer)
        }
        run { !peer.frames.isEmpty || peer.isClosed }
        return peer
    }
}

private enum CertificateTime {
    /// A time within the validity of the test certificates.
    static let nowSeconds =
        try! CertificateContents(pem: Array(AppleAuthority.single.certificatePEM.utf8)).notBeforeSeconds + 3600
}
