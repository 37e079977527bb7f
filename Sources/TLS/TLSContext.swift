internal import COpenSSL
public import Crypto

/// Certificates, keys and settings, read and checked once, for any number of client or server connections.
///
/// `@unchecked Sendable`: immutable after `init`, and OpenSSL allows several threads to create connections from one
/// `SSL_CTX`. A separate context per lane is faster, since threads contend for the reference count of a shared one.
public final class TLSContext: @unchecked Sendable {
    /// Cipher suites of TLS 1.2. All have forward secrecy and authenticated encryption, as HTTP/2 recommends (RFC 9113,
    /// 9.2.2).
    private static let ciphersOfTLS12 = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// Cipher suites of TLS 1.3, in the order of preference. AES-128 is as secure in practice as AES-256, and
    /// faster.
    private static let ciphersOfTLS13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

    let isServer: Bool
    let applicationProtocols: [String]
    let requiresApplicationProtocol: Bool
    private(set) var hasIdentity = false
    /// An `SSL_CTX`, valid for the lifetime of this object.
    let pointer: OpaquePointer
    /// The ALPN names. On a server, also the argument of the ALPN callback, so the object must outlive `pointer`.
    private let protocolChoice: ProtocolChoice

    /// Creates a client context. The call may read files and must not happen on a lane.
    ///
    /// - Parameter trust: replaces the configuration's trust unless nil.
    /// - Throws: `CryptoError` for an invalid certificate, key or ALPN name, or if the authorities cannot be read.
    public convenience init(
        client configuration: TLSClientConfiguration, trust: TLSTrustStore? = nil
    ) throws(CryptoError) {
        try self.init(
            method: TLS_client_method(), isServer: false, applicationProtocols: configuration.applicationProtocols,
            requiresApplicationProtocol: configuration.requiresApplicationProtocol,
            versions: (configuration.versionMin, configuration.versionMax))
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        if let trust { trust.use(in: pointer) } else { try TLSTrustStore(configuration.trust).use(in: pointer) }
        if let identity = configuration.identity { try load(identity) }
        let names = protocolChoice.wireFormat
        // Unlike most OpenSSL functions, this function returns 0 on success.
        guard names.isEmpty || SSL_CTX_set_alpn_protos(pointer, names, UInt32(names.count)) == 0 else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot set the ALPN names")
        }
    }

    /// Creates a server context. The call may read files and must not happen on a lane.
    ///
    /// - Throws: `CryptoError` for an invalid certificate, key or ALPN name, or if the authorities cannot be read.
    public convenience init(server configuration: TLSServerConfiguration) throws(CryptoError) {
        try self.init(
            method: TLS_server_method(), isServer: true, applicationProtocols: configuration.applicationProtocols,
            requiresApplicationProtocol: configuration.requiresApplicationProtocol,
            versions: (configuration.versionMin, configuration.versionMax))
        try load(configuration.identity)
        if let trust = configuration.clientTrust {
            let required = configuration.requiresClientCertificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
            SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | required, nil)
            try TLSTrustStore(trust).use(in: pointer)
        }
        if configuration.requestsAnyClientCertificate {
            SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
            SSL_CTX_set_cert_verify_callback(pointer, judgeClientCertificate, nil)
        }
        if !protocolChoice.wireFormat.isEmpty {
            let argument = Unmanaged.passUnretained(protocolChoice).toOpaque()
            SSL_CTX_set_alpn_select_cb(pointer, chooseProtocol, argument)
        }
    }

    private init(
        method: OpaquePointer?, isServer: Bool, applicationProtocols: [String], requiresApplicationProtocol: Bool,
        versions: (min: TLSVersion, max: TLSVersion)
    ) throws(CryptoError) {
        for name in applicationProtocols where !(1...255).contains(name.utf8.count) {
            throw CryptoError(.invalidArgument, "an ALPN name must have 1 to 255 bytes")
        }
        OpenSSLErrors.clear()
        guard let pointer = SSL_CTX_new(method) else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot set up TLS")
        }
        self.pointer = pointer
        self.isServer = isServer
        self.applicationProtocols = applicationProtocols
        self.requiresApplicationProtocol = requiresApplicationProtocol
        protocolChoice = ProtocolChoice(applicationProtocols)

        // Connections live for hours, so session resumption has no benefit, and tickets would only cost space.
        martlet_ctx_disable_extras(pointer)
        martlet_ctx_disable_session_cache(pointer)
        guard SSL_CTX_set_num_tickets(pointer, 0) == 1,
            martlet_ctx_set_versions(pointer, versions.min.rawValue, versions.max.rawValue) == 1,
            SSL_CTX_set_cipher_list(pointer, Self.ciphersOfTLS12) == 1,
            SSL_CTX_set_ciphersuites(pointer, Self.ciphersOfTLS13) == 1
        else { throw CryptoError(.failed, drainingOpenSSLAfter: "cannot set up TLS") }
    }

    deinit { SSL_CTX_free(pointer) }

    private func load(_ identity: TLSIdentity) throws(CryptoError) {
        let count = try PEMCertificates.forEach(in: Array(identity.certificateChainPEM.utf8), "the certificate chain") {
            index, certificate in
            guard index > 0 else { return SSL_CTX_use_certificate(pointer, certificate) == 1 }
            guard X509_up_ref(certificate) == 1 else { return false }
            if martlet_ctx_add0_chain_cert(pointer, certificate) == 1 { return true }
            X509_free(certificate)
            return false
        }
        guard count > 0 else { throw CryptoError(.malformed, "the certificate chain's PEM contains no CERTIFICATE") }

        OpenSSLErrors.clear()
        let key = MemoryBIO.reading(Array(identity.privateKeyPEM.utf8)) {
            PEM_read_bio_PrivateKey($0, nil, martlet_no_passphrase, nil)
        }
        guard let key else {
            throw CryptoError(
                .malformed, drainingOpenSSLAfter: "cannot read the private key: the key is invalid or has a passphrase")
        }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(pointer, key) == 1, SSL_CTX_check_private_key(pointer) == 1 else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "the private key does not match the certificate")
        }
        hasIdentity = true
    }
}

/// Passes the client's certificate to the session's `admits`, and ignores the certificate's chain. Returns 1 for an
/// admitted certificate, otherwise 0. The peer never counts as verified.
private func judgeClientCertificate(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    let pointer = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    guard let pointer, let session = TLSSession.session(of: OpaquePointer(pointer)),
        let der = TLSSession.der(of: X509_STORE_CTX_get0_cert(store))
    else {
        X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
        return 0
    }
    let isAdmitted = session.admits(der)
    X509_STORE_CTX_set_error(store, isAdmitted ? X509_V_ERR_APPLICATION_VERIFICATION : X509_V_ERR_CERT_REVOKED)
    return isAdmitted ? 1 : 0
}

/// The ALPN names of a context, in the form that OpenSSL requires.
private final class ProtocolChoice {
    /// The names, each preceded by its length in one byte.
    let wireFormat: [UInt8]

    init(_ names: [String]) {
        wireFormat = names.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
    }
}

/// Selects the server's first ALPN name that the client offers. Refuses a client that offers only other names (RFC
/// 7301, 3.2). `chosen` may point into the client's list, which OpenSSL keeps during this call. OpenSSL then copies
/// the name.
private func chooseProtocol(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let argument, let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_NOACK }
    let choice = Unmanaged<ProtocolChoice>.fromOpaque(argument).takeUnretainedValue()
    var name: UnsafeMutablePointer<UInt8>?
    let status = choice.wireFormat.withUnsafeBufferPointer { ours in
        // On success, `name` points into the client's list or into `ours`, which outlives the call.
        SSL_select_next_proto(&name, chosenLength, ours.baseAddress, UInt32(ours.count), offered, offeredLength)
    }
    guard status == OPENSSL_NPN_NEGOTIATED, let name else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    chosen.pointee = UnsafePointer(name)
    return SSL_TLSEXT_ERR_OK
}
