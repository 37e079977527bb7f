/// The authorities that may sign a peer's certificate.
public enum TLSTrust: Sendable {
    /// The authorities that the machine trusts.
    case system
    /// Only the authorities in a PEM text.
    case pem(String)
}

/// A certificate, its chain to the authority, and its private key.
public struct TLSIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The chain in PEM, with the certificate of the private key first.
    public var certificateChainPEM: String
    /// The secret private key in PEM, without a passphrase.
    public var privateKeyPEM: String

    public init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// A text without the key. `debugDescription` and `customMirror` omit the key, too.
    public var description: String { "a certificate and its private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["certificateChainPEM": certificateChainPEM]) }
}

/// The TLS configuration of a client. The server's chain and host name are always verified.
public struct TLSClientConfiguration: Sendable {
    public var trust: TLSTrust
    /// The certificate to present if the server requests one; nil presents none.
    public var identity: TLSIdentity?
    /// ALPN names in the order of preference, such as `h2`.
    public var applicationProtocols: [String]
    /// Whether the connection fails if the server selects none of `applicationProtocols`.
    public var requiresApplicationProtocol: Bool
    public var versionMin: TLSVersion
    public var versionMax: TLSVersion

    public init(
        trust: TLSTrust = .system, identity: TLSIdentity? = nil, applicationProtocols: [String] = [],
        requiresApplicationProtocol: Bool = false, versionMin: TLSVersion = .tls12, versionMax: TLSVersion = .tls13
    ) {
        self.trust = trust
        self.identity = identity
        self.applicationProtocols = applicationProtocols
        self.requiresApplicationProtocol = requiresApplicationProtocol
        self.versionMin = versionMin
        self.versionMax = versionMax
    }
}

/// The TLS configuration of a server.
public struct TLSServerConfiguration: Sendable {
    public var identity: TLSIdentity
    /// ALPN names in the order of preference. The server selects the first name that the client offers.
    public var applicationProtocols: [String]
    /// Whether a client that offers no ALPN names is refused. A client that offers only other names is refused in any
    /// case, unless `applicationProtocols` is empty.
    public var requiresApplicationProtocol: Bool
    /// The authorities of client certificates; nil requests no certificate, unless `requestsAnyClientCertificate` is
    /// true.
    public var clientTrust: TLSTrust?
    /// Whether to request a client certificate, and to accept a missing certificate or a certificate of any issuer.
    /// The caller of ``TLSTransport/accept(_:context:handler:admits:)`` decides about the certificate.
    public var requestsAnyClientCertificate = false
    /// Whether a client without a certificate is refused. Ignored if `clientTrust` is nil, or if
    /// `requestsAnyClientCertificate` is true.
    public var requiresClientCertificate: Bool
    public var versionMin: TLSVersion
    public var versionMax: TLSVersion

    public init(
        identity: TLSIdentity, applicationProtocols: [String] = [], requiresApplicationProtocol: Bool = false,
        clientTrust: TLSTrust? = nil, requiresClientCertificate: Bool = false, versionMin: TLSVersion = .tls12,
        versionMax: TLSVersion = .tls13
    ) {
        self.identity = identity
        self.applicationProtocols = applicationProtocols
        self.requiresApplicationProtocol = requiresApplicationProtocol
        self.clientTrust = clientTrust
        self.requiresClientCertificate = requiresClientCertificate
        self.versionMin = versionMin
        self.versionMax = versionMax
    }
}
