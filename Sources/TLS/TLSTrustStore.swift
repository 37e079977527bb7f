internal import COpenSSL
public import Crypto

/// Trusted authorities, read once for any number of contexts. The machine's authorities need about a megabyte of
/// memory.
///
/// `@unchecked Sendable`: immutable after `init`, and OpenSSL locks the store's tables.
public final class TLSTrustStore: @unchecked Sendable {
    /// An `X509_STORE`.
    private let pointer: OpaquePointer

    /// Reads the authorities. The call may read files and must not happen on a lane.
    ///
    /// - Throws: `CryptoError` if the authorities cannot be read.
    public init(_ trust: TLSTrust) throws(CryptoError) {
        OpenSSLErrors.clear()
        guard let pointer = X509_STORE_new() else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot set up TLS")
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
                throw CryptoError(.malformed, "the certificate authorities' PEM contains no CERTIFICATE")
            }
        }
        OpenSSLErrors.clear()
    }

    deinit { X509_STORE_free(pointer) }

    /// Sets this store as the trust store of a context. The context retains the store.
    func use(in context: OpaquePointer) { withExtendedLifetime(self) { SSL_CTX_set1_cert_store(context, pointer) } }
}
