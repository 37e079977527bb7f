internal import COpenSSL

/// A certificate and its private key, both as PEM.
public struct IssuedCertificate: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let certificatePEM: String
    /// A secret.
    public let privateKeyPEM: String

    /// Without the key, as are the other two.
    public var description: String { "a certificate and its private key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["certificatePEM": certificatePEM]) }
}

/// An extension of a certificate that is somebody's own.
public struct CertificateExtension: Sendable, Hashable {
    /// In dotted form, such as `1.2.840.113635.100.6.3.2`.
    public var objectID: String
    /// In DER.
    public var value: [UInt8]

    public init(objectID: String, value: [UInt8]) {
        self.objectID = objectID
        self.value = value
    }
}

/// A certificate authority of one's own, for tests, the quickstart and the simulator: made in memory, used, forgotten.
/// Its certificates are on P-256 keys and are not meant for production.
public struct CertificateAuthority: Sendable {
    /// From when until when a certificate holds, in seconds from now. Starts an hour ago, so that clocks may differ.
    public struct Validity: Sendable {
        public var fromSeconds: Int
        public var untilSeconds: Int

        public init(fromSeconds: Int = -3600, untilSeconds: Int = 30 * 86_400) {
            self.fromSeconds = fromSeconds
            self.untilSeconds = untilSeconds
        }
    }

    /// What clients are given to trust.
    public let certificatePEM: String
    private let name: String
    private let key: P256Key

    /// A new authority with a new key.
    ///
    /// - Parameter name: its common name, at most 64 bytes (X.520's limit).
    /// - Throws: `invalidArgument` for a name that cannot be used, else `failed`.
    public static func make(
        name: String = "Martlet test authority", validity: Validity = Validity()
    ) throws(CryptoError) -> CertificateAuthority {
        try make(name: name, below: nil, validity: validity)
    }

    /// Another that this one vouches for. Who trusts this one alone has to be shown its certificate as well.
    ///
    /// - Throws: as `make`.
    public func intermediate(
        name: String, validity: Validity = Validity()
    ) throws(CryptoError) -> CertificateAuthority {
        try Self.make(name: name, below: self, validity: validity)
    }

    /// - Parameter parent: nil where it vouches for itself.
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

    /// A certificate for a TLS server that is reached under any of the given names and addresses.
    ///
    /// - Throws: `invalidArgument` for a name or an address that is none, or when there is neither.
    public func issueServer(
        dnsNames: [String], ipAddresses: [String] = [], validity: Validity = Validity()
    ) throws(CryptoError) -> IssuedCertificate {
        // The alternative names go to OpenSSL as one text, in which a comma would begin another name.
        for name in dnsNames where name.isEmpty || !name.utf8.allSatisfy(Self.isInDNSName) {
            throw CryptoError(.invalidArgument, "a certificate cannot be issued for the host name \(name)")
        }
        for address in ipAddresses where address.isEmpty || !address.utf8.allSatisfy(Self.isInAddress) {
            throw CryptoError(.invalidArgument, "a certificate cannot be issued for the address \(address)")
        }
        let names = dnsNames.map { "DNS:\($0)" } + ipAddresses.map { "IP:\($0)" }
        guard !names.isEmpty else {
            throw CryptoError(.invalidArgument, "a server's certificate needs a host name or an address")
        }
        return try issue(
            subject: String((dnsNames.first ?? ipAddresses.first ?? "").prefix(64)), validity: validity,
            extensions: [
                (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, names.joined(separator: ",")),
            ])
    }

    /// A certificate with which a TLS client shows who it is.
    ///
    /// - Parameters:
    ///   - name: its common name, at most 64 bytes.
    ///   - userID: `UID` of its subject.
    ///   - extensions: those that say what its bearer may do, such as Apple's.
    /// - Throws: `invalidArgument` for a name that cannot be used, else `failed`.
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
