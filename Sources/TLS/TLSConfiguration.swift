/// The authorities that may sign a peer's certificate.
public enum TLSTrust: Sendable {
    /// The authorities that the machine trusts.
    case system
    /// Only the authorities in a PEM text.
    case pem(String)
}

/// A certificate, its chain to the authority, and its private key.
public struct TLSIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// PEM, the certificate of the private key first.
    public var certificateChainPEM: String
    /// PEM, without a passphrase. A secret.
    public var privateKeyPEM: String

    public init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Omits the key, as do `debugDescription` and `customMirror`.
    public var description: String { "a certificate and its private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["certificateChainPEM": certificateChainPEM]) }
}

/// The TLS configuration of a client. The server's chain and host name are always verified.
public struct TLSClientConfiguration: Sendable {
    public var trust: TLSTrust
    /// Presented to a server that requests a certificate.
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
    /// ALPN names in the order of preference. The server selects the first one that the client offers.
    public var applicationProtocols: [String]
    /// Whether a client that offers no ALPN names is refused. A client that offers only other names is always refused.
    public var requiresApplicationProtocol: Bool
    /// The authorities of client certificates; nil requests none.
    public var clientTrust: TLSTrust?
    /// Whether to request a client certificate and accept any, or none, regardless of its issuer. The caller of
    /// ``TLSTransport/accept(_:context:handler:admits:)`` decides about the certificate.
    public var requestsAnyClientCertificate = false
    /// Whether a client without a certificate is refused.
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
