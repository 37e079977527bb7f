internal import COpenSSL

/// The certificates of a PEM text.
package enum PEMCertificates {
    /// Hands each certificate to `body`, which borrows it; returns their number.
    ///
    /// - Throws: `malformed` for a broken block, and when `body` says false.
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
            // The end of the text is told as an error, "no start line"; anything else is a broken block.
            guard let error = OpenSSLErrors.drain(), error.reason == PEM_R_NO_START_LINE else { return nil }
            return count
        }
        guard let count else { throw CryptoError(.malformed, drainingOpenSSLAfter: "\(what) cannot be read") }
        return count
    }
}
