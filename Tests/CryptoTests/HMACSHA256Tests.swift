import Crypto
import Testing

/// The test cases of RFC 4231 for SHA-256. Case 5 truncates the code to 128 bits.
@Suite struct HMACSHA256Tests {
    struct Vector: Sendable {
        var key: [UInt8]
        var message: [UInt8]
        var code: String
    }

    static let vectors = [
        Vector(
            key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 20), message: [UInt8](repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            key: Array(1...25), message: [UInt8](repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        Vector(
            key: [UInt8](repeating: 0x0c, count: 20), message: Array("Test With Truncation".utf8),
            code: "a3b6167473100ee06e0c796c2955552b"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]

    @Test(arguments: vectors) func `Codes are those of RFC 4231`(vector: Vector) throws {
        let mac = try HMACSHA256(key: vector.key)
        // The second round shows that the first one did not change the prepared key.
        for _ in 0..<2 {
            #expect(hex(try mac.code(of: vector.message)).hasPrefix(vector.code))
            let short = try vector.message.withUnsafeBytes { try mac.shortCode(of: $0) }
            #expect("\(short)".filter { $0 != "-" } == vector.code.prefix(32))
        }
    }

    @Test func `An empty key and an empty message are valid`() throws {
        let code = try HMACSHA256(key: []).code(of: [])
        #expect(hex(code) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }
}
