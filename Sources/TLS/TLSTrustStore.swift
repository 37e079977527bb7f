internal import COpenSSL
public import Crypto

/// Authorities that were read once, for any number of contexts: the machine's own are a megabyte.
///
/// `@unchecked Sendable`: nothing is added after `init`, and OpenSSL guards a store's own tables.
public final class TLSTrustStore: @unchecked Sendable {
    /// An `X509_STORE`
    private let pointer: OpaquePointer

    /// May read files, so not on a lane.
    ///
    /// - Throws: what is wrong with the authorities.
    public init(_ trust: TLSTrust) throws(CryptoError) {
        OpenSSLErrors.clear()
        guard let pointer = X509_STORE_new() else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot set TLS up")
        }
        self.pointer = pointer
        switch trust {
        case .system:
            guard X509_STORE_set_default_paths(pointer) == 1 else {
                throw CryptoError(.failed, drainingOpenSSLAfter: "cannot read the machine's certificate authorities")
            }
        case .pem(let text):
            let count = try PEMCertificates.forEach(in: Array(text.utf8), "the certificate authorities") {
                _, certificate in
                X509_STORE_add_cert(pointer, certificate) == 1
            }
            guard count > 0 else {
                throw CryptoError(.malformed, "the certificate authorities' PEM holds no CERTIFICATE")
            }
        }
        OpenSSLErrors.clear()
    }

    deinit { X509_STORE_free(pointer) }

    /// The context keeps it from then on.
    func use(in context: OpaquePointer) { withExtendedLifetime(self) { SSL_CTX_set1_cert_store(context, pointer) } }
}
