internal import COpenSSL

/// A signed certificate, as an OpenSSL object.
final class X509Certificate {
    private let pointer: OpaquePointer

    /// Creates and signs a certificate.
    ///
    /// - Parameters:
    ///   - userID: the `UID`, which precedes the common name in the subject; nil omits the `UID`.
    ///   - extensions: OpenSSL's number of each extension, and its value in the syntax of OpenSSL's configuration
    ///     files.
    ///   - foreignExtensions: extensions that OpenSSL does not support.
    init(
        subject: String, userID: String? = nil, key: P256Key, issuer: String, issuerKey: P256Key,
        validity: CertificateAuthority.Validity, extensions: [(Int32, String)],
        foreignExtensions: [CertificateExtension] = []
    ) throws(CryptoError) {
        OpenSSLErrors.clear()
        guard let pointer = X509_new() else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot create a certificate")
        }
        self.pointer = pointer
        let isFilled =
            X509_set_version(pointer, 2) == 1  // counted from 0: version 3
            && Self.setRandomSerial(pointer)
            && X509_gmtime_adj(X509_getm_notBefore(pointer), validity.fromSeconds) != nil
            && X509_gmtime_adj(X509_getm_notAfter(pointer), validity.untilSeconds) != nil
            && (userID.map { Self.add($0, NID_userId, to: X509_get_subject_name(pointer)) } ?? true)
            && Self.add(subject, NID_commonName, to: X509_get_subject_name(pointer))
            && Self.add(issuer, NID_commonName, to: X509_get_issuer_name(pointer))
            && X509_set_pubkey(pointer, key.pointer) == 1
        guard isFilled else {
            throw CryptoError(
                .invalidArgument, drainingOpenSSLAfter: "cannot create a certificate for the name \(subject)")
        }
        for (number, value) in extensions {
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, pointer, pointer, nil, nil, 0)
            guard let entry = X509V3_EXT_conf_nid(nil, &context, number, value) else {
                throw CryptoError(.invalidArgument, drainingOpenSSLAfter: "cannot add \(value) to a certificate")
            }
            defer { X509_EXTENSION_free(entry) }
            guard X509_add_ext(pointer, entry, -1) == 1 else {
                throw CryptoError(.failed, drainingOpenSSLAfter: "cannot create a certificate")
            }
        }
        for entry in foreignExtensions { try add(entry) }
        guard X509_sign(pointer, issuerKey.pointer, EVP_sha256()) > 0 else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot sign a certificate")
        }
    }

    deinit { X509_free(pointer) }

    func pem() throws(CryptoError) -> String {
        guard let text = MemoryBIO.text({ PEM_write_bio_X509($0, pointer) == 1 }) else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot write a certificate")
        }
        return text
    }

    /// Sets a random serial number of 127 bits. RFC 5280, 4.1.2.2, requires a positive number of at most 20 bytes that
    /// is unique for the issuer.
    private static func setRandomSerial(_ certificate: OpaquePointer) -> Bool {
        guard let number = BN_new() else { return false }
        defer { BN_free(number) }
        return BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1
            && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
    }

    private func add(_ foreign: CertificateExtension) throws(CryptoError) {
        guard let object = OBJ_txt2obj(foreign.objectID, 1), let value = ASN1_OCTET_STRING_new() else {
            throw CryptoError(.invalidArgument, drainingOpenSSLAfter: "\(foreign.objectID) is not an object identifier")
        }
        defer {
            ASN1_OBJECT_free(object)
            ASN1_OCTET_STRING_free(value)
        }
        guard ASN1_OCTET_STRING_set(value, foreign.value, Int32(clamping: foreign.value.count)) == 1,
            let entry = X509_EXTENSION_create_by_OBJ(nil, object, 0, value)
        else { throw CryptoError(.failed, drainingOpenSSLAfter: "cannot create a certificate") }
        defer { X509_EXTENSION_free(entry) }
        guard X509_add_ext(pointer, entry, -1) == 1 else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot create a certificate")
        }
    }

    private static func add(_ name: String, _ number: Int32, to subject: OpaquePointer?) -> Bool {
        X509_NAME_add_entry_by_NID(
            subject, number, MBSTRING_UTF8, Array(name.utf8), Int32(clamping: name.utf8.count), -1, 0)
            == 1
    }
}
