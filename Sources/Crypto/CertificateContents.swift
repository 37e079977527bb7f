internal import COpenSSL

/// The contents of a certificate. The certificate's signature is not verified.
public struct CertificateContents: Sendable {
    /// Maximum number of extensions read from one certificate.
    static let extensionsMax = 64

    /// The SHA-256 fingerprint, 32 bytes.
    public let sha256: [UInt8]
    /// `UID` of the subject (RFC 4519, 2.39); nil if absent or unreadable.
    public let userID: String?
    /// `CN` of the subject; nil if absent or unreadable.
    public let commonName: String?
    /// Start of the validity period in UNIX seconds, inclusive.
    public let notBeforeSeconds: Int64
    /// End of the validity period in UNIX seconds, inclusive.
    public let notAfterSeconds: Int64
    /// Values of the first 64 extensions in DER, by object identifier in dotted form.
    public let extensions: [String: [UInt8]]

    /// Parses a certificate in DER.
    ///
    /// - Throws: `malformed`.
    public init(der: [UInt8]) throws(CryptoError) {
        OpenSSLErrors.clear()
        let certificate = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            return d2i_X509(nil, &position, bytes.count)
        }
        guard let certificate else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "cannot read the certificate")
        }
        defer { X509_free(certificate) }
        try self.init(certificate, der: der)
    }

    /// Parses the first block of a PEM text. The block must be a `CERTIFICATE`.
    ///
    /// - Throws: `malformed`.
    public init(pem: [UInt8]) throws(CryptoError) {
        let block = try PEMBlock.first(in: pem, what: "the certificate file")
        guard block.label == "CERTIFICATE" else {
            throw CryptoError(
                .malformed, "the certificate file contains a block \(block.label) instead of CERTIFICATE")
        }
        try self.init(der: block.contents)
    }

    /// Reads an OpenSSL certificate, which the caller continues to own.
    init(_ certificate: OpaquePointer) throws(CryptoError) {
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &der)
        guard count > 0, let der else {
            throw CryptoError(.malformed, drainingOpenSSLAfter: "cannot encode the certificate")
        }
        defer { CRYPTO_free(der, nil, 0) }
        try self.init(certificate, der: Array(UnsafeBufferPointer(start: der, count: Int(count))))
    }

    private init(_ certificate: OpaquePointer, der: [UInt8]) throws(CryptoError) {
        guard let notBefore = Self.seconds(X509_get0_notBefore(certificate)),
            let notAfter = Self.seconds(X509_get0_notAfter(certificate))
        else { throw CryptoError(.malformed, drainingOpenSSLAfter: "cannot read the certificate's dates") }
        sha256 = Digest.sha256(der)
        let subject = X509_get_subject_name(certificate)
        userID = Self.text(NID_userId, of: subject)
        commonName = Self.text(NID_commonName, of: subject)
        notBeforeSeconds = notBefore
        notAfterSeconds = notAfter
        var extensions: [String: [UInt8]] = [:]
        for index in 0..<min(X509_get_ext_count(certificate), Int32(Self.extensionsMax)) {
            guard let entry = X509_get_ext(certificate, index), let name = Self.name(of: entry) else { continue }
            extensions[name] = Self.bytes(X509_EXTENSION_get_data(entry))
        }
        self.extensions = extensions
        OpenSSLErrors.clear()
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let start = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_STRING_free(start) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, start, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    private static func text(_ number: Int32, of subject: OpaquePointer?) -> String? {
        let index = X509_NAME_get_index_by_NID(subject, number, -1)
        guard index >= 0, let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)) else { return nil }
        var utf8: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&utf8, value)
        guard count >= 0, let utf8 else { return nil }
        defer { CRYPTO_free(utf8, nil, 0) }
        return String(decoding: UnsafeBufferPointer(start: utf8, count: Int(count)), as: UTF8.self)
    }

    private static func name(of entry: OpaquePointer) -> String? {
        // A longer identifier is truncated, and then matches no known extension.
        var text = [CChar](repeating: 0, count: 128)
        guard OBJ_obj2txt(&text, Int32(text.count), X509_EXTENSION_get_object(entry), 1) > 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func bytes(_ string: UnsafeMutablePointer<ASN1_OCTET_STRING>?) -> [UInt8] {
        guard let string, let start = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: Int(max(0, ASN1_STRING_length(string)))))
    }
}
