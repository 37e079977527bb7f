import Crypto
import Testing

@Suite struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("66", "Zg"), ("666f", "Zm8"), ("666f6f", "Zm9v"), ("666f6f62", "Zm9vYg"), ("fbff", "-_8"),
        ("ffffff", "____"),
        ("03ecffe0c1", "A-z_4ME"),  // RFC 7515, appendix C
    ])
    func `Known pairs in both directions`(bytesInHex: String, text: String) {
        #expect(Base64URL.encode(bytes(hex: bytesInHex)) == text)
        #expect(Base64URL.decode(text) == bytes(hex: bytesInHex))
    }

    @Test(arguments: ["Z", "Zg==", "Zg=", "Zm9v\n", " Zm9v", "Zm+v", "Zm/v", "Zh", "Zm9", "Zm9vY", "Zm\u{0}v", "ü"])
    func `Other texts than those of encode are refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `Every length round-trips`() throws {
        for length in 0..<200 {
            let bytes = try SecureRandom.bytes(count: length)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }
}
