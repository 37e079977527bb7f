import Crypto
import Testing

@Suite struct CertificateContentsTests {
    private let issued: IssuedCertificate

    init() throws {
        issued = try CertificateAuthority.make().issueClient(
            name: "Apple Push Services: com.example.app", userID: "com.example.app",
            extensions: [
                CertificateExtension(objectID: "1.2.840.113635.100.6.3.2", value: [5, 0]),
                CertificateExtension(objectID: "1.2.3.4", value: [4, 1, 7]),
            ], validity: .init(fromSeconds: -60, untilSeconds: 3600))
    }

    @Test func `A certificate contains the given values`() throws {
        let contents = try CertificateContents(pem: Array(issued.certificatePEM.utf8))
        #expect(contents.userID == "com.example.app")
        #expect(contents.commonName == "Apple Push Services: com.example.app")
        #expect(contents.extensions["1.2.840.113635.100.6.3.2"] == [5, 0])
        #expect(contents.extensions["1.2.3.4"] == [4, 1, 7])
        #expect(contents.extensions["1.2.3.5"] == nil)
        #expect(contents.notAfterSeconds - contents.notBeforeSeconds == 3660)
        #expect(contents.notBeforeSeconds > 1_700_000_000)
        #expect(contents.sha256.count == 32)
    }

    @Test func `A subject without names has none`() throws {
        let server = try CertificateAuthority.make().issueServer(dnsNames: ["localhost"])
        let contents = try CertificateContents(pem: Array(server.certificatePEM.utf8))
        #expect(contents.userID == nil)
        #expect(contents.commonName == "localhost")
    }

    @Test func `Other data than a certificate is refused`() throws {
        #expect(throws: CryptoError.self) { try CertificateContents(der: []) }
        #expect(throws: CryptoError.self) { try CertificateContents(der: [0x30, 0x03, 1, 2, 3]) }
        #expect(throws: CryptoError.self) { try CertificateContents(pem: Array(issued.privateKeyPEM.utf8)) }
        #expect(throws: CryptoError.self) { try CertificateContents(pem: Array("none".utf8)) }
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `A damaged certificate is read or refused`(seed: UInt64) throws {
        var random = seed
        let text = issued.certificatePEM
        let base64 = text.split(separator: "\n").dropFirst().dropLast().joined()
        var der = try #require(
            Base64URL.decode(
                base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")))
        for _ in 0...(seed % 4) {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            der[Int(random >> 33) % der.count] = UInt8(truncatingIfNeeded: random >> 20)
        }
        _ = try? CertificateContents(der: der)
    }

    @Test func `An extension's name is an object identifier`() throws {
        let authority = try CertificateAuthority.make()
        #expect(throws: CryptoError.self) {
            try authority.issueClient(name: "x", extensions: [CertificateExtension(objectID: "none", value: [])])
        }
    }
}
