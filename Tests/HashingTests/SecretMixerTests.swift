import Hashing
import Testing

struct SecretMixerTests {
    private static let mixer = SecretMixer()

    private static func hash(_ bytes: [UInt8], after start: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { mixer.hash($0, after: start) }
    }

    @Test(arguments: 0...65)
    func everyByteCounts(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let whole = Self.hash(bytes)
        #expect(whole == Self.hash(bytes))
        #expect(whole != Self.hash(bytes, after: 1))
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 1
            #expect(Self.hash(other) != whole, "byte \(place)")
        }
    }

    @Test func theLengthCounts() {
        let hashes = (0...65).map { Self.hash(Array(repeating: 0, count: $0)) }
        #expect(Set(hashes).count == hashes.count)
    }

    @Test func theAddressOfTheBytesDoesNotCount() {
        let bytes = Array(UInt8(0)..<80)
        for count in 0...64 {
            let aligned = Self.hash(Array(bytes[3..<(3 + count)]))
            let inPlace = bytes.withUnsafeBytes {
                Self.mixer.hash(UnsafeRawBufferPointer(rebasing: $0[3..<(3 + count)]))
            }
            #expect(aligned == inPlace)
        }
    }
}
