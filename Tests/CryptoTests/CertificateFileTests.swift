import Crypto
import Testing

@Suite struct CertificateFileTests {
    private static func bytes(_ pem: String...) -> [UInt8] { Array(pem.joined().utf8) }

    /// The certificate and its key in any order, with the key in the same file, in another file, or in PKCS #12.
    @Test(
        arguments: [
            (bytes(SampleCertificates.certificate, SampleCertificates.key), nil, nil),
            (
                bytes(SampleCertificates.key, SampleCertificates.another, SampleCertificates.certificate), nil,
                "needless"
            ),
            (bytes(SampleCertificates.certificate, SampleCertificates.encryptedKey), nil, "secret"),
            (bytes(SampleCertificates.certificate), bytes(SampleCertificates.key), nil),
            (bytes(SampleCertificates.certificate), bytes(SampleCertificates.encryptedKey), "secret"),
            (
                bytes("Bag Attributes\n    friendlyName: x\n", SampleCertificates.certificate, SampleCertificates.key),
                nil, nil
            ),
            (SampleCertificates.pkcs12, nil, "secret"), (SampleCertificates.keychain, nil, "secret"),
        ] as [([UInt8], [UInt8]?, String?)])
    func `Each form gives the same certificate and key`(bytes: [UInt8], key: [UInt8]?, passphrase: String?) throws {
        let file = try CertificateFile(bytes, key: key, passphrase: passphrase)
        #expect(file.contents.userID == "com.example.app")
        #expect(file.chainPEM.hasPrefix(SampleCertificates.certificate))
        #expect(file.privateKeyPEM == SampleCertificates.key)
        #expect(!"\(file) \(String(reflecting: file))".contains("PRIVATE"))
    }

    @Test(
        arguments: [
            (SampleCertificates.pkcs12, nil),
            (
                bytes(SampleCertificates.another, SampleCertificates.certificate), bytes(SampleCertificates.key)
            ),
        ] as [([UInt8], [UInt8]?)])
    func `The other certificates follow the certificate of the key`(bytes: [UInt8], key: [UInt8]?) throws {
        let file = try CertificateFile(bytes, key: key, passphrase: "secret")
        #expect(file.chainPEM == SampleCertificates.certificate + SampleCertificates.another)
    }

    @Test func `A key file beside PKCS #12 is refused`() {
        #expect {
            try CertificateFile(
                SampleCertificates.pkcs12, key: Self.bytes(SampleCertificates.key), passphrase: "secret")
        } throws: { error in
            (error as? CryptoError)?.message.contains("contains its private key") == true
        }
    }

    @Test(
        arguments: [
            (bytes(SampleCertificates.certificate), nil, "contains a certificate without its private key"),
            (der(SampleCertificates.certificate), nil, "contains a certificate without its private key"),
            (bytes(SampleCertificates.key), nil, "matches no certificate"),
            (bytes(SampleCertificates.another, SampleCertificates.key), nil, "matches no certificate"),
            (bytes(SampleCertificates.certificate, SampleCertificates.encryptedKey), nil, "has a passphrase"),
            (
                bytes(SampleCertificates.certificate, SampleCertificates.encryptedKey), "wrong",
                "check the passphrase"
            ),
            (SampleCertificates.pkcs12, nil, "has a passphrase"), (SampleCertificates.pkcs12, "wrong", "is wrong"),
            (SampleCertificates.keychain, "wrong", "is wrong"),
            (SampleCertificates.pkcs12WithoutKey, "secret", "no certificate with its private key"),
            ([], nil, "is empty"), (Array(" \n".utf8), nil, "is empty"), (Array("hello".utf8), nil, "neither PEM"),
            (Array(SampleCertificates.pkcs12.prefix(400)), "secret", "neither PEM"),
        ] as [([UInt8], String?, String)])
    func `Unusable files are refused with a reason`(bytes: [UInt8], passphrase: String?, words: String) {
        #expect {
            try CertificateFile(bytes, passphrase: passphrase)
        } throws: { error in
            let message = (error as? CryptoError)?.message ?? ""
            return message.contains(words) && !message.contains("secret")
        }
    }

    // A keychain may export a developer's identity together with the app's identity, in any order.
    @Test(
        arguments: SampleCertificates.pkcs12OfTwo + [
            bytes(
                SampleCertificates.developer, SampleCertificates.developerKey, SampleCertificates.certificate,
                SampleCertificates.key),
            bytes(
                SampleCertificates.key, SampleCertificates.certificate, SampleCertificates.developer,
                SampleCertificates.developerKey),
        ])
    func `The wanted identity is chosen in any order`(file bytes: [UInt8]) throws {
        let app = try CertificateFile(bytes, passphrase: "secret") { $0.userID != nil }
        #expect(app.contents.userID == "com.example.app")
        #expect(app.chainPEM == SampleCertificates.certificate && app.privateKeyPEM == SampleCertificates.key)
        let developer = try CertificateFile(bytes, passphrase: "secret") { $0.userID == nil }
        #expect(developer.chainPEM == SampleCertificates.developer)
        #expect(developer.privateKeyPEM == SampleCertificates.developerKey)
    }

    @Test func `Several wanted identities in one file are named in the error`() throws {
        let bytes = Self.bytes(
            SampleCertificates.otherApp, SampleCertificates.developerKey, SampleCertificates.certificate,
            SampleCertificates.key)
        let error = try #require(throws: CryptoError.self) { try CertificateFile(bytes) { $0.userID != nil } }
        #expect(error.message.contains("for com.example.app and com.example.other; export each"))
    }

    // Secret stores and environment variables may change the text in these ways.
    @Test func `DER, Base64 around it and lost line ends make no difference`() throws {
        let certificate = SampleCertificates.certificate
        let oneLine = certificate.split(separator: "\n").joined(separator: " ")
        for bytes in [Self.der(certificate), Array(oneLine.utf8), Self.base64(Array(certificate.utf8))] {
            let file = try CertificateFile(bytes, key: Self.bytes(SampleCertificates.key))
            #expect(file.chainPEM == certificate && file.privateKeyPEM == SampleCertificates.key)
        }
        let file = try CertificateFile(Self.base64(SampleCertificates.pkcs12), passphrase: "secret")
        #expect(file.contents.userID == "com.example.app")
    }

    private static func der(_ pem: String) -> [UInt8] {
        SampleCertificates.bytes(pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined(separator: "\n"))
    }

    private static func base64(_ bytes: [UInt8]) -> [UInt8] { Array(SampleCertificates.base64(bytes).utf8) }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `A damaged file is read or refused`(seed: UInt64) {
        var random = seed
        var bytes = seed % 2 == 0 ? SampleCertificates.keychain : SampleCertificates.pkcs12
        for _ in 0...(seed % 4) {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[Int(random >> 33) % bytes.count] = UInt8(truncatingIfNeeded: random >> 20)
        }
        _ = try? CertificateFile(bytes, passphrase: "secret")
    }
}
