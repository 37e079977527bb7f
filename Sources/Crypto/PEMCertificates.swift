internal import COpenSSL

/// The certificates of a PEM text.
package enum PEMCertificates {
    /// Calls `body` with each certificate, which is valid only during the call. Returns the number of certificates.
    ///
    /// - Throws: `malformed` for an invalid block, or if `body` returns false.
    package static func forEach(
        in pem: [UInt8], _ what: String, _ body: (Int, OpaquePointer) -> Bool
    ) throws(CryptoError) -> Int {
        OpenSSLErrors.clear()
        let count = MemoryBIO.reading(pem) { input -> Int? in
            var count = 0
            while let certificate = PEM_read_bio_X509(input, nil, martlet_no_passphrase, nil) {
                defer { X509_free(certificate) }
                guard body(count, certificate) else { return nil }
                count += 1
            }
            // At the end of the text, OpenSSL reports the error "no start line". Every other error is an invalid block.
            guard let error = OpenSSLErrors.drain(), error.reason == PEM_R_NO_START_LINE else { return nil }
            return count
        }
        guard let count else { throw CryptoError(.malformed, drainingOpenSSLAfter: "cannot read \(what)") }
        return count
    }
}
