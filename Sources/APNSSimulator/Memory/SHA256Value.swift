import Crypto

/// A SHA-256 digest, stored without an allocation.
public struct SHA256Value: Sendable, Hashable, CustomStringConvertible {
    private let first: UInt64, second: UInt64, third: UInt64, fourth: UInt64

    public init(of bytes: UnsafeRawBufferPointer) {
        self.init(digest: Digest.sha256(bytes))
    }

    /// Creates the value from a digest of 32 bytes.
    init(digest: [UInt8]) {
        func word(_ index: Int) -> UInt64 { digest[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
    }

    /// The digest as 64 hexadecimal digits in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 64) { digits in
            var position = 0
            for word in [first, second, third, fourth] {
                for shift in stride(from: UInt64(60), through: 0, by: -4) {
                    let digit = UInt8(truncatingIfNeeded: word >> shift) & 15
                    digits[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    position += 1
                }
            }
            return position
        }
    }
}
