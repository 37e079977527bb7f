internal import COpenSSL

/// A private key, its certificate, and the certificates of its file that match no key, as OpenSSL objects.
final class PrivateCertificate {
    private let key: OpaquePointer
    /// The certificates, beginning with the key's certificate.
    private var certificates: [OpaquePointer]
    /// The library context of a PKCS #12 file; nil for PEM. The context must outlive the key and the certificates.
    private let algorithms: KeychainAlgorithms?

    /// Reads the private key and its certificate from PEM.
    ///
    /// - Parameter key: the text of the private key; nil if `pem` contains it.
    init(
        pem: PEMText, key: PEMText?, passphrase: String?, _ isWanted: (CertificateContents) -> Bool
    ) throws(CryptoError) {
        let found = Identities()
        for text in Self.keyTexts(key ?? pem) {
            do {
                found.keys.append(try Self.readKey(text, passphrase))
            } catch {
                guard key == nil, !pem.blocks.isEmpty, !pem.hasKey else { throw error }
                throw CryptoError(
                    .malformed,
                    "the file contains a certificate without its private key; export both together as PKCS #12 (.p12), or "
                        + "set key_file")
            }
        }
        _ = try PEMCertificates.forEach(in: pem.bytes, "the certificate") { _, certificate in
            guard X509_up_ref(certificate) == 1 else { return false }
            found.certificates.append(certificate)
            return true
        }
        let chosen = try found.choose(isWanted)
        algorithms = nil
        (self.key, certificates) = chosen
    }

    /// Returns the text of each key block, or the whole text if it contains no key block.
    private static func keyTexts(_ text: PEMText) -> [[UInt8]] {
        text.hasKey ? text.blocks.filter(\.isKey).map(\.text) : [text.bytes]
    }

    init(
        pkcs12 bytes: [UInt8], passphrase: String?, _ isWanted: (CertificateContents) -> Bool
    ) throws(CryptoError) {
        let algorithms = try KeychainAlgorithms()
        defer { withExtendedLifetime(algorithms) {} }
        OpenSSLErrors.clear()
        var file = PKCS12_init_ex(NID_pkcs7_data, algorithms.pointer, nil)
        // On an error, `d2i_PKCS12` frees the file and sets it to nil.
        let isRead = bytes.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_PKCS12(&file, &position, bytes.count) != nil
        }
        defer { PKCS12_free(file) }
        guard isRead else {
            OpenSSLErrors.clear()
            throw CryptoError(.malformed, "the file is neither PEM (-----BEGIN …) nor PKCS #12 (.p12)")
        }
        var (key, certificate, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        guard PKCS12_parse(file, passphrase, &key, &certificate, &others) == 1 else {
            throw Self.unreadable(passphrase, algorithms)
        }
        var certificates = certificate.map { [$0] } ?? []
        for index in 0..<max(0, OPENSSL_sk_num(others)) {
            guard let other = OPENSSL_sk_value(others, index) else { continue }
            certificates.append(OpaquePointer(other))
        }
        OPENSSL_sk_free(others)
        let found = Identities()
        found.certificates = certificates
        guard let key, !certificates.isEmpty else {
            EVP_PKEY_free(key)
            throw CryptoError(
                .malformed, "the file contains no certificate with its private key; export both together, as one item")
        }
        // OpenSSL returns only the first of several identities.
        found.keys = [key] + PKCS12Keys.all(in: file, passphrase, algorithms.pointer)
        let chosen = try found.choose(isWanted)
        self.algorithms = algorithms
        (self.key, self.certificates) = chosen
    }

    deinit {
        EVP_PKEY_free(key)
        for certificate in certificates { X509_free(certificate) }
    }

    func chainPEM() throws(CryptoError) -> String {
        let text = MemoryBIO.text { output in certificates.allSatisfy { PEM_write_bio_X509(output, $0) == 1 } }
        guard let text else { throw CryptoError(.failed, drainingOpenSSLAfter: "cannot write a certificate") }
        return text
    }

    func keyPEM() throws(CryptoError) -> String {
        let text = MemoryBIO.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) == 1 }
        guard let text else { throw CryptoError(.failed, drainingOpenSSLAfter: "cannot write the private key") }
        return text
    }

    private static func readKey(_ pem: [UInt8], _ passphrase: String?) throws(CryptoError) -> OpaquePointer {
        OpenSSLErrors.clear()
        let key = MemoryBIO.reading(pem) { input -> OpaquePointer? in
            guard var passphrase = passphrase.map({ Array($0.utf8CString) }) else {
                return PEM_read_bio_PrivateKey(input, nil, martlet_no_passphrase, nil)
            }
            return PEM_read_bio_PrivateKey(input, nil, nil, &passphrase)
        }
        if let key { return key }
        guard OpenSSLErrors.drain()?.library != ERR_LIB_OSSL_DECODER else {
            throw CryptoError(.malformed, "the file contains no private key")
        }
        throw CryptoError(
            .malformed,
            passphrase == nil
                ? "the private key has a passphrase; set passphrase"
                : "cannot read the private key; check the passphrase")
    }

    private static func unreadable(_ passphrase: String?, _ algorithms: KeychainAlgorithms) -> CryptoError {
        let error = OpenSSLErrors.drain()
        guard error?.library == ERR_LIB_PKCS12, error?.reason == PKCS12_R_MAC_VERIFY_FAILURE else {
            return CryptoError(
                .malformed,
                "cannot read the PKCS #12 file: \(error?.text ?? "no reason from OpenSSL")"
                    + (algorithms.isComplete
                        ? "" : "; keychain files require OpenSSL's legacy provider: install the provider"))
        }
        return CryptoError(
            .malformed,
            passphrase == nil
                ? "the PKCS #12 file has a passphrase; set passphrase"
                : "the passphrase of the PKCS #12 file is wrong")
    }
}

extension PEMText.Block {
    fileprivate var isKey: Bool { label.hasSuffix("PRIVATE KEY") }
}

extension PEMText {
    fileprivate var hasKey: Bool { blocks.contains(where: \.isKey) }
}

/// An OpenSSL library context for PKCS #12 files. Includes legacy algorithms if OpenSSL's legacy provider is installed,
/// because macOS's keychain encrypts PKCS #12 files with 40-bit RC2.
private final class KeychainAlgorithms {
    let pointer: OpaquePointer
    private var providers: [OpaquePointer] = []
    private(set) var isComplete = false

    init() throws(CryptoError) {
        guard let pointer = OSSL_LIB_CTX_new() else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot set up OpenSSL")
        }
        self.pointer = pointer
        for name in ["default", "legacy"] {
            if let provider = OSSL_PROVIDER_load(pointer, name) { providers.append(provider) }
        }
        isComplete = providers.count == 2
        OpenSSLErrors.clear()
    }

    deinit {
        for provider in providers { OSSL_PROVIDER_unload(provider) }
        OSSL_LIB_CTX_free(pointer)
    }
}
