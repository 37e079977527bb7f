import Crypto
import Testing

@Suite struct HKDFSHA256Tests {
    @Test func `Keys are those of RFC 5869, A.1`() throws {
        let key = try HKDFSHA256.key(
            from: [UInt8](repeating: 0x0b, count: 22), salt: Array(0x00...0x0c), info: Array(0xf0...0xf9),
            byteCount: 42)
        #expect(
            hex(key) == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    }

    @Test func `Keys are those of RFC 5869, A.2`() throws {
        let key = try HKDFSHA256.key(
            from: Array(0x00...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff), byteCount: 82)
        #expect(
            hex(key)
                == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")
    }

    @Test func `Keys are those of RFC 5869, A.3`() throws {
        let key = try HKDFSHA256.key(from: [UInt8](repeating: 0x0b, count: 22), info: [], byteCount: 42)
        #expect(
            hex(key) == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test(arguments: [-1, 0, 8161]) func `Other lengths are refused`(byteCount: Int) throws {
        let error = #expect(throws: CryptoError.self) {
            try HKDFSHA256.key(from: [1], info: [], byteCount: byteCount)
        }
        #expect(error?.code == .invalidArgument)
        #expect(try HKDFSHA256.key(from: [1], info: [], byteCount: 8160).count == 8160)
    }
}
