internal import COpenSSL

/// A certificate and its private key, both as PEM.
public struct IssuedCertificate: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let certificatePEM: String
    /// The private key, a secret.
    public let privateKeyPEM: String

    /// A text without the key. `debugDescription` and `customMirror` also omit the key.
    public var description: String { "a certificate and its private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["certificatePEM": certificatePEM]) }
}

/// A private extension of a certificate.
public struct CertificateExtension: Sendable, Hashable {
    /// The object identifier in dotted form, such as `1.2.840.113635.100.6.3.2`.
    public var objectID: String
    /// The value in DER.
    public var value: [UInt8]

    public init(objectID: String, value: [UInt8]) {
        self.objectID = objectID
        self.value = value
    }
}

/// An in-memory certificate authority with P-256 keys, for tests and the simulator. Not for production.
public struct CertificateAuthority: Sendable {
    /// The validity period of a certificate, in seconds relative to the time of issue. By default, the period starts
    /// an hour before the issue, to tolerate differences between clocks.
    public struct Validity: Sendable {
        public var fromSeconds: Int
        public var untilSeconds: Int

        public init(fromSeconds: Int = -3600, untilSeconds: Int = 30 * 86_400) {
            self.fromSeconds = fromSeconds
            self.untilSeconds = untilSeconds
        }
    }

    /// The authority's certificate, which clients must trust.
    public let certificatePEM: String
    private let name: String
    private let key: P256Key

    /// Creates an authority with a new key.
    ///
    /// - Parameter name: the common name, at most 64 characters (X.520's limit).
    /// - Throws: `invalidArgument` for an invalid name, otherwise `failed`.
    public static func make(
        name: String = "Martlet test authority", validity: Validity = Validity()
    ) throws(CryptoError) -> CertificateAuthority {
        try make(name: name, below: nil, validity: validity)
    }

    /// Creates an intermediate authority, whose certificate this authority signs. Servers must also present the
    /// intermediate certificate to clients that trust only this authority.
    ///
    /// - Throws: the errors of `make`.
    public func intermediate(
        name: String, validity: Validity = Validity()
    ) throws(CryptoError) -> CertificateAuthority {
        try Self.make(name: name, below: self, validity: validity)
    }

    /// Creates an authority with a new key.
    ///
    /// - Parameter parent: the signing authority; nil for a self-signed authority.
    private static func make(
        name: String, below parent: CertificateAuthority?, validity: Validity
    ) throws(CryptoError) -> CertificateAuthority {
        let key = try P256Key.generate()
        let certificate = try X509Certificate(
            subject: name, key: key, issuer: parent?.name ?? name, issuerKey: parent?.key ?? key, validity: validity,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
            ])
        return CertificateAuthority(certificatePEM: try certificate.pem(), name: name, key: key)
    }

    /// Issues a certificate for a TLS server with the given names and addresses.
    ///
    /// - Throws: `invalidArgument` for an invalid name or address, or if both lists are empty, otherwise `failed`.
    public func issueServer(
        dnsNames: [String], ipAddresses: [String] = [], validity: Validity = Validity()
    ) throws(CryptoError) -> IssuedCertificate {
        // OpenSSL parses the alternative names from one text, in which a comma would start another name.
        for name in dnsNames where name.isEmpty || !name.utf8.allSatisfy(Self.isInDNSName) {
            throw CryptoError(.invalidArgument, "cannot issue a certificate: invalid host name \(name)")
        }
        for address in ipAddresses where address.isEmpty || !address.utf8.allSatisfy(Self.isInAddress) {
            throw CryptoError(.invalidArgument, "cannot issue a certificate: invalid address \(address)")
        }
        let names = dnsNames.map { "DNS:\($0)" } + ipAddresses.map { "IP:\($0)" }
        guard !names.isEmpty else {
            throw CryptoError(.invalidArgument, "a server certificate requires a host name or an address")
        }
        return try issue(
            subject: String((dnsNames.first ?? ipAddresses.first ?? "").prefix(64)), validity: validity,
            extensions: [
                (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, names.joined(separator: ",")),
            ])
    }

    /// Issues a certificate for a TLS client.
    ///
    /// - Parameters:
    ///   - name: the common name, at most 64 characters.
    ///   - userID: the `UID` of the subject; nil omits it.
    ///   - extensions: additional extensions, such as Apple's.
    /// - Throws: `invalidArgument` for an invalid name, user ID or object identifier, otherwise `failed`.
    public func issueClient(
        name: String, userID: String? = nil, extensions: [CertificateExtension] = [], validity: Validity = Validity()
    ) throws(CryptoError) -> IssuedCertificate {
        try issue(
            subject: name, userID: userID, validity: validity, extensions: [(NID_ext_key_usage, "clientAuth")],
            foreignExtensions: extensions)
    }

    private func issue(
        subject: String, userID: String? = nil, validity: Validity, extensions: [(Int32, String)],
        foreignExtensions: [CertificateExtension] = []
    ) throws(CryptoError) -> IssuedCertificate {
        let leafKey = try P256Key.generate()
        let certificate = try X509Certificate(
            subject: subject, userID: userID, key: leafKey, issuer: name, issuerKey: key, validity: validity,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            ] + extensions, foreignExtensions: foreignExtensions)
        return IssuedCertificate(certificatePEM: try certificate.pem(), privateKeyPEM: try leafKey.pkcs8PEM())
    }

    private static func isInDNSName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isInAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
