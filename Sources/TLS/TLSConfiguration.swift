/// Whose signature on a peer's certificate is believed.
public enum TLSTrust: Sendable {
    /// The authorities that the machine trusts.
    case system
    /// Those in a PEM text, and no others.
    case pem(String)
}

/// How one shows who one is: a certificate, the certificates that lead from it to its authority, and its private key.
public struct TLSIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// PEM, one's own certificate first.
    public var certificateChainPEM: String
    /// PEM, without a passphrase. A secret.
    public var privateKeyPEM: String

    public init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Without the key, as are the other two.
    public var description: String { "a certificate and its private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["certificateChainPEM": certificateChainPEM]) }
}

/// What a client wants of TLS. The server's chain and host name are always verified.
public struct TLSClientConfiguration: Sendable {
    public var trust: TLSTrust
    /// Shown to a server that asks for a certificate.
    public var identity: TLSIdentity?
    /// ALPN names in the order of preference, such as `h2`.
    public var applicationProtocols: [String]
    /// Whether a connection is refused when the server takes none of `applicationProtocols`.
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

/// What a server wants of TLS.
public struct TLSServerConfiguration: Sendable {
    public var identity: TLSIdentity
    /// ALPN names in the order of preference; the first that the client offers too is taken.
    public var applicationProtocols: [String]
    /// Whether a client that offers nothing by ALPN is refused; one that offers others alone always is.
    public var requiresApplicationProtocol: Bool
    /// Who signs clients' certificates; without, clients are not asked for one.
    public var clientTrust: TLSTrust?
    /// Whether clients are asked for a certificate and may show any, or none: who signed it does not matter then. What it
    /// is worth is for whoever accepts the connection to say.
    public var asksForAnyClientCertificate = false
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
