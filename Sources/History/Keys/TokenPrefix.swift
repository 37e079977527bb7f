/// The first 40 bits of a device token, which rows contain in the clear.
struct TokenPrefix: Sendable, Hashable {
    /// The number of hexadecimal digits that a search can use.
    static let digitsMax = 10

    /// The numbers of tokens that begin with the digits.
    let numbers: ClosedRange<Int64>

    /// Reads at most ``digitsMax`` digits at the start of a token. Further characters are ignored. Returns nil if the
    /// start is empty or not hexadecimal.
    init?(_ token: some StringProtocol) {
        let digits = token.utf8.prefix(Self.digitsMax)
        guard !digits.isEmpty, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || Self.isLetter($0) }),
            let value = Int64(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        let shift = Int64(4 * (Self.digitsMax - digits.count))
        numbers = value << shift...(value << shift | ((1 << shift) - 1))
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }
}
