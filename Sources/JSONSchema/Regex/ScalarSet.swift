/// Unicode scalars as ranges of code points.
struct ScalarSet {
    /// The ranges, in any order and possibly overlapping. Surrogates have no effect.
    private(set) var ranges: [ClosedRange<UInt32>]

    init(_ ranges: [ClosedRange<UInt32>] = []) { self.ranges = ranges }

    static let digits = ScalarSet([48...57])
    static let wordCharacters = ScalarSet([48...57, 65...90, 95...95, 97...122])
    /// White space and line terminators of ECMA-262.
    static let spaces = ScalarSet([
        0x9...0xD, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    static let lineEnds = ScalarSet([0xA...0xA, 0xD...0xD, 0x2028...0x2029])

    mutating func insert(_ range: ClosedRange<UInt32>) { ranges.append(range) }

    mutating func formUnion(_ other: ScalarSet) { ranges += other.ranges }

    /// The set of all other code points.
    var inverted: ScalarSet {
        var others: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { others.append(next...range.lowerBound - 1) }
            next = max(next, range.upperBound + 1)
        }
        if next <= 0x10_FFFF { others.append(next...0x10_FFFF) }
        return ScalarSet(others)
    }

    /// The ranges without surrogates.
    private var characters: [ClosedRange<UInt32>] {
        ranges.flatMap { range -> [ClosedRange<UInt32>] in
            [0...0xD7FF, 0xE000...0x10_FFFF].filter(range.overlaps).map(range.clamped)
        }
    }

    /// The class in PCRE2's notation. The class is inverted if a range ends at the last code point, because PCRE2
    /// then matches faster.
    var asPCRE2: String {
        let isInverted = ranges.contains { $0.upperBound == 0x10_FFFF }
        let members = isInverted ? inverted.members : members
        guard members.isEmpty else { return (isInverted ? "[^" : "[") + members + "]" }
        return isInverted ? #"[\s\S]"# : "(?!)"
    }

    /// The members of the class in PCRE2's notation, without brackets.
    var members: String {
        characters.map { range in
            let first = #"\x{\#(String(range.lowerBound, radix: 16))}"#
            return range.count == 1 ? first : first + #"-\x{\#(String(range.upperBound, radix: 16))}"#
        }.joined()
    }

    /// Whether PCRE2 has to search for some characters, because its table covers only code points below 0x100.
    var isWide: Bool {
        ranges.contains { 0x100...0x10_FFFE ~= $0.upperBound || 0x101...0x10_FFFF ~= $0.lowerBound }
    }

    /// The UTF-8 encodings of the characters, as sequences of byte ranges.
    var sequences: [[ClosedRange<UInt8>]] {
        var sequences: [[ClosedRange<UInt8>]] = []
        for range in characters {
            for length: ClosedRange<UInt32> in [0...0x7F, 0x80...0x7FF, 0x800...0xFFFF, 0x1_0000...0x10_FFFF]
            where range.overlaps(length) {
                Self.split(range.clamped(to: length), &sequences)
            }
        }
        return sequences
    }

    /// Splits a range of characters whose encodings have the same length. In each resulting sequence, the bytes vary
    /// independently.
    private static func split(_ range: ClosedRange<UInt32>, _ sequences: inout [[ClosedRange<UInt8>]]) {
        let (low, high) = (range.lowerBound, range.upperBound)
        guard let first = Unicode.Scalar(low), let last = Unicode.Scalar(high) else { return }
        for tail in 1..<max(Unicode.UTF8.width(first), 2) where high > 0x7F {
            let mask: UInt32 = 1 << UInt32(6 * tail) - 1
            guard low & ~mask != high & ~mask else { continue }
            if low & mask != 0 {
                split(low...(low | mask), &sequences)
                return split((low | mask) + 1...high, &sequences)
            }
            if high & mask != mask {
                split(low...(high & ~mask) - 1, &sequences)
                return split((high & ~mask)...high, &sequences)
            }
        }
        sequences.append(zip(Array(String(first).utf8), Array(String(last).utf8)).map { $0...$1 })
    }
}
