import Crypto
import Testing

@Suite struct ES256Tests {
    @Test func `The public key verifies signatures in raw form and in DER`() throws {
        let key = try ES256PrivateKey(pem: SampleKeys.p256)
        let publicKey = try ES256PublicKey(pem: SampleKeys.p256Public)
        let signature = try key.sign(Array("eyJhbGciOiJFUzI1NiJ9.e30".utf8))

        #expect(signature.count == 64)
        #expect(publicKey.verify(signature: signature, of: Array("eyJhbGciOiJFUzI1NiJ9.e30".utf8)))
        #expect(!publicKey.verify(signature: signature, of: Array("eyJhbGciOiJFUzI1NiJ9.e31".utf8)))
        #expect(publicKey.verify(signature: bytes(hex: SampleKeys.signatureOfMartlet), of: Array("martlet".utf8)))
        #expect(!publicKey.verify(signature: bytes(hex: SampleKeys.signatureOfMartlet), of: Array("marlet".utf8)))
    }

    /// The example of RFC 7515, A.3.
    @Test func `The example of the JWS standard verifies`() throws {
        let x = try #require(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        let y = try #require(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        let header = bytes(hex: "3059301306072a8648ce3d020106082a8648ce3d03010703420004")
        let key = try ES256PublicKey(pem: pem("PUBLIC KEY", header + x + y))
        let input =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let signature = try #require(
            Base64URL.decode("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"))
        #expect(key.verify(signature: signature, of: Array(input.utf8)))
    }

    /// The examples of RFC 6979, A.2.5, with SHA-256.
    @Test(arguments: [
        (
            "sample",
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
            "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
        ),
        (
            "test",
            "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
            "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
        ),
    ])
    func `The nonces match the examples of the standard`(
        message: String, r: String, s: String
    ) throws {
        let der =
            bytes(hex: "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420")
            + bytes(hex: "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
            + bytes(hex: "a14403420004")
            + bytes(hex: "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6")
            + bytes(hex: "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
        let key = try ES256PrivateKey(pem: pem("PRIVATE KEY", der))
        #expect(try key.sign(Array(message.utf8)) == bytes(hex: r + s))
    }

    @Test func `Signatures have 64 bytes even if r or s is small`() throws {
        let key = try ES256PrivateKey.generate()
        let publicKey = try key.publicKey()
        for round in 0..<600 {
            let input = Array("round \(round)".utf8)
            let signature = try key.sign(input)
            #expect(signature.count == 64 && publicKey.verify(signature: signature, of: input))
        }
    }

    @Test func `Changed signatures and other texts are refused`() throws {
        let key = try ES256PrivateKey(pem: SampleKeys.p256)
        let publicKey = try key.publicKey()
        let signature = try key.sign([1, 2, 3])
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!publicKey.verify(signature: changed, of: [1, 2, 3]))
        }
        let der = bytes(hex: SampleKeys.signatureOfMartlet)
        for length in 0..<der.count {
            #expect(!publicKey.verify(signature: Array(der[..<length]), of: Array("martlet".utf8)))
        }
        for length in 0...130 {
            #expect(!publicKey.verify(signature: [UInt8](repeating: 0, count: length), of: [1, 2, 3]))
            #expect(!publicKey.verify(signature: [UInt8](repeating: 0xFF, count: length), of: [1, 2, 3]))
        }
    }

    @Test func `A generated key survives its PEM`() throws {
        let key = try ES256PrivateKey.generate()
        let again = try ES256PrivateKey(pem: key.pkcs8PEM())
        let signature = try again.sign([7])
        #expect(try key.publicKey().verify(signature: signature, of: [7]))
        #expect(try key.publicKeyPEM() == again.publicKeyPEM())
        #expect(
            try ES256PrivateKey(pem: "Key:\r\n\r\n" + key.pkcs8PEM() + "\n").publicKeyPEM() == key.publicKeyPEM()
        )
    }

    /// A text that is not exactly one supported key. Its description is its name, to keep keys out of the test output.
    struct OtherKey: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let pem: String
        let code: CryptoError.Code
        let word: String

        init(_ name: String, _ pem: String, _ code: CryptoError.Code, _ word: String) {
            (testDescription, self.pem, self.code, self.word) = (name, pem, code, word)
        }
    }

    @Test(arguments: [
        OtherKey("P-384", SampleKeys.p384, .unsupported, "secp384r1"),
        OtherKey("Ed25519", SampleKeys.ed25519, .unsupported, "not an elliptic-curve key"),
        OtherKey("SEC 1", SampleKeys.p256SEC1, .unsupported, "SEC 1"),
        OtherKey("encrypted", SampleKeys.p256Encrypted, .unsupported, "encrypted"),
        OtherKey("public", SampleKeys.p256Public, .malformed, "PUBLIC KEY"),
        OtherKey("nothing", "", .malformed, "the key file is empty"),
        OtherKey("white space", " \r\n", .malformed, "the key file is empty"),
        OtherKey("a certificate", SampleCertificates.certificate, .malformed, "contains a block CERTIFICATE"),
        OtherKey("SEC 1 behind its curve", "\(ecParameters)\n\(SampleKeys.p256SEC1)", .unsupported, "SEC 1"),
        OtherKey(
            "two keys", SampleKeys.p256 + "\n" + SampleCertificates.key, .malformed,
            "the key file contains different private keys"),
        OtherKey(
            "half a key", "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEG\n-----END PRIVATE KEY-----\n",
            .malformed,
            "not a PKCS #8 key"),
        OtherKey(
            "empty block", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", .malformed,
            "no complete PEM block"),
    ])
    func `Other keys are named in the error`(key: OtherKey) throws {
        let error = try #require(throws: CryptoError.self) { try ES256PrivateKey(pem: key.pem) }
        #expect(error.code == key.code)
        #expect(error.message.contains(key.word))
        for line in key.pem.split(separator: "\n") where line.count > 20 && !line.hasPrefix("-") {
            #expect(!error.message.contains(line), "key material in the message")
        }
    }

    private static let ecParameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----"

    /// A form of a key. Its description is its name, to keep keys out of the test output.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ name: String, _ text: String) { (testDescription, bytes) = (name, Array(text.utf8)) }

        init(_ name: String, bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
    }

    private static let lines = SampleKeys.p256.split(separator: "\n")
    private static let der = SampleCertificates.bytes(lines.dropFirst().dropLast().joined())

    @Test(arguments: [
        Form("literal line feeds", lines.joined(separator: "\\n") + "\\n"),
        Form("doubly escaped", lines.joined(separator: "\\\\n")),
        Form("literal CR LF", lines.joined(separator: "\\r\\n")), Form("one line", lines.joined()),
        Form("spaces", lines.joined(separator: " ")), Form("CR", lines.joined(separator: "\r")),
        Form("CR LF", lines.joined(separator: "\r\n")), Form("indented", lines.joined(separator: "\n        ")),
        Form("tabs", lines.joined(separator: "\n\t")), Form("blank lines", lines.joined(separator: "\n\n")),
        Form("folded", lines.joined(separator: " ") + "\n"), Form("quoted", "\"\(lines.joined(separator: "\\n"))\""),
        Form("quoted once more", "'\"\(lines.joined(separator: "\\n"))\"'"),
        Form("each line quoted", lines.map { "\"\($0)\"" }.joined(separator: "\n")),
        Form("a byte order mark", "\u{FEFF}" + SampleKeys.p256),
        Form("no spaces at all", SampleKeys.p256.filter { !$0.isWhitespace }),
        Form("Base64 once more", SampleCertificates.base64(Array(SampleKeys.p256.utf8))),
        Form("Base64 in lines", SampleCertificates.base64(Array(SampleKeys.p256.utf8)).replacing("L", with: "L\n")),
        Form("Base64 alone", lines.dropFirst().dropLast().joined()), Form("DER", bytes: der),
        Form("twice", SampleKeys.p256 + "\n" + SampleKeys.p256),
        Form("behind a public key", SampleKeys.p256Public + "\n" + SampleKeys.p256),
    ])
    func `A key is read in each unambiguous form`(form: Form) throws {
        let key = try ES256PrivateKey(pem: form.bytes)
        #expect(try key == ES256PrivateKey(pem: SampleKeys.p256))
    }

    @Test func `An error names the origin of the text`() throws {
        for (bytes, words) in [
            ([], "environment variable KEY is empty"),
            (Array("?".utf8), "environment variable KEY contains no complete PEM"),
            (SampleCertificates.pkcs12, "environment variable KEY is a PKCS #12"),
        ] {
            let error = try #require(throws: CryptoError.self) {
                try ES256PrivateKey(pem: bytes, source: "environment variable KEY")
            }
            #expect(error.message.hasPrefix(words))
        }
    }

    @Test func `A truncated or damaged key is read or refused`() throws {
        let pem = Array(SampleKeys.p256.utf8)
        let whole = try ES256PrivateKey(pem: pem).publicKeyPEM()
        for length in 0..<pem.count - 1 {
            #expect(throws: CryptoError.self) { try ES256PrivateKey(pem: Array(pem[..<length])) }
        }
        for index in pem.indices {
            var damaged = pem
            damaged[index] ^= 0x04
            guard let key = try? ES256PrivateKey(pem: damaged) else { continue }
            #expect(try key.publicKeyPEM() == whole)
        }
    }

    private func pem(_ label: String, _ bytes: [UInt8]) -> String {
        // Base64URL's alphabet differs from PEM's in two characters and the padding.
        var text = Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        while text.count % 4 != 0 { text.append("=") }
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
    }
}
