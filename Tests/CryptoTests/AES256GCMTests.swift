import Crypto
import Testing

@Suite struct AES256GCMTests {
    struct Vector: Sendable {
        var key: String
        var nonce: String
        var associated = ""
        var message = ""
        /// The ciphertext and the tag, in hexadecimal.
        var sealed: String
    }

    /// Test cases 13 to 16 of "The Galois/Counter Mode of Operation", which McGrew and Viega submitted to NIST. Their
    /// nonces have 96 bits.
    static let vectors = [
        Vector(
            key: String(repeating: "0", count: 64), nonce: String(repeating: "0", count: 24),
            sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
        Vector(
            key: String(repeating: "0", count: 64), nonce: String(repeating: "0", count: 24),
            message: String(repeating: "0", count: 32),
            sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
        Vector(
            key: key, nonce: "cafebabefacedbaddecaf888", message: message + "1aafd255",
            sealed: ciphertext + "898015ad" + "b094dac5d93471bdec1a502270e3cc6c"),
        Vector(
            key: key, nonce: "cafebabefacedbaddecaf888",
            associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2", message: message,
            sealed: ciphertext + "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]
    private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let message =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
        + "b16aedf5aa0de657ba637b39"
    private static let ciphertext =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
        + "c5f61e6393ba7a0abcc9f662"

    @Test(arguments: vectors) func `Messages are those of NIST's vectors`(vector: Vector) throws {
        let cipher = try AES256GCM(key: bytes(hex: vector.key))
        let (message, associated) = (bytes(hex: vector.message), bytes(hex: vector.associated))
        // The second round shows that the first one did not change the prepared key.
        for _ in 0..<2 {
            let sealed = try cipher.seal(message, authenticating: associated, nonce: bytes(hex: vector.nonce))
            #expect(hex(sealed) == vector.nonce + vector.sealed)
            #expect(try cipher.open(sealed, authenticating: associated) == message)
        }
    }

    @Test func `Each changed bit is refused, and the next message opens`() throws {
        let cipher = try AES256GCM(key: [UInt8](repeating: 7, count: 32))
        let associated: [UInt8] = [1, 2, 3]
        let sealed = try cipher.seal(Array("a message".utf8), authenticating: associated)
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: AES256GCM.OpenError.notAuthentic) {
                try cipher.open(changed, authenticating: associated)
            }
        }
        #expect(throws: AES256GCM.OpenError.notAuthentic) { try cipher.open(sealed, authenticating: [1, 2]) }
        #expect(throws: AES256GCM.OpenError.notAuthentic) { try cipher.open(sealed, authenticating: []) }
        let other = try AES256GCM(key: [UInt8](repeating: 8, count: 32))
        #expect(throws: AES256GCM.OpenError.notAuthentic) { try other.open(sealed, authenticating: associated) }
        #expect(try cipher.open(sealed, authenticating: associated) == Array("a message".utf8))
    }

    @Test func `Shortened messages are refused`() throws {
        let cipher = try AES256GCM(key: [UInt8](repeating: 7, count: 32))
        let sealed = try cipher.seal([1, 2, 3], authenticating: [])
        for count in 0..<sealed.count {
            let isWhole = count >= AES256GCM.overheadBytes
            #expect(throws: isWhole ? AES256GCM.OpenError.notAuthentic : .malformed) {
                try cipher.open(Array(sealed.prefix(count)), authenticating: [])
            }
        }
    }

    @Test func `A buffer receives the message, or zeros if the message is not authentic`() throws {
        let cipher = try AES256GCM(key: [UInt8](repeating: 7, count: 32))
        var sealed = try cipher.seal([1, 2, 3], authenticating: [])
        var buffer = [UInt8](repeating: 9, count: 4)
        func open() throws -> Int {
            try sealed.withUnsafeBytes { sealed in
                try buffer.withUnsafeMutableBytes { buffer in
                    try cipher.open(sealed, authenticating: UnsafeRawBufferPointer(start: nil, count: 0), into: buffer)
                }
            }
        }
        #expect(try open() == 3 && buffer == [1, 2, 3, 9])
        sealed[sealed.count - 1] ^= 1
        #expect(throws: AES256GCM.OpenError.notAuthentic) { try open() }
        #expect(buffer == [0, 0, 0, 9])
    }

    @Test func `Two messages have different nonces`() throws {
        let cipher = try AES256GCM(key: [UInt8](repeating: 7, count: 32))
        #expect(try cipher.seal([], authenticating: []) != cipher.seal([], authenticating: []))
    }

    @Test(arguments: [0, 16, 31, 33]) func `Keys of other lengths are refused`(byteCount: Int) {
        let error = #expect(throws: CryptoError.self) {
            try AES256GCM(key: [UInt8](repeating: 7, count: byteCount))
        }
        #expect(error?.code == .invalidArgument)
    }
}
