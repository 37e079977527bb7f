import Crypto
import Testing

/// The contents of issued certificates. The tests of TLS verify the certificates in handshakes.
@Suite struct CertificateAuthorityTests {
    @Test func `Each issued certificate has its key`() throws {
        let authority = try CertificateAuthority.make(name: "Tests")
        let server = try authority.issueServer(
            dnsNames: ["localhost", "*.example.com"], ipAddresses: ["127.0.0.1", "::1"])
        let client = try authority.issueClient(name: "a client, with = and / in its name")
        for text in [authority.certificatePEM, server.certificatePEM, client.certificatePEM] {
            #expect(text.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        }
        #expect(throws: Never.self) { try ES256PrivateKey(pem: server.privateKeyPEM) }
        #expect(throws: Never.self) { try ES256PrivateKey(pem: client.privateKeyPEM) }
    }

    @Test func `Descriptions omit the key`() throws {
        let issued = try CertificateAuthority.make().issueClient(name: "client")
        var dumped = ""
        dump(issued, to: &dumped)
        #expect(!"\(issued) \(String(reflecting: issued)) \(dumped)".contains("PRIVATE KEY"))
    }

    @Test(arguments: ["", "a,DNS:b", "a b", "a\nb", "ä.example"])
    func `An ambiguous host name is refused`(name: String) throws {
        let authority = try CertificateAuthority.make()
        #expect(throws: CryptoError.self) { try authority.issueServer(dnsNames: [name]) }
        #expect(throws: CryptoError.self) { try authority.issueServer(dnsNames: [], ipAddresses: [name]) }
    }

    @Test func `Names beyond X.520's limit and servers without a name are refused`() throws {
        let authority = try CertificateAuthority.make()
        #expect(throws: CryptoError.self) { try authority.issueClient(name: String(repeating: "n", count: 65)) }
        #expect(throws: CryptoError.self) { try authority.issueClient(name: "") }
        #expect(throws: CryptoError.self) { try authority.issueServer(dnsNames: []) }
        #expect(throws: CryptoError.self) { try authority.issueServer(dnsNames: [], ipAddresses: ["1.2.3"]) }
    }
}
