/// The magnitude of an exponent that no machine word holds, as in `1e100000000000000000000`: the digits that were written
/// and what the place of the decimal point adds to them. It borrows its number's bytes.
struct HugeExponent {
    /// Without zeros before them.
    private let digits: UnsafeRawBufferPointer
    private let shift: Int64

    /// Differences are exact up to this one at least.
    private static let exactMax: Int64 = 1 << 56

    /// `text` is what a number has behind its `e`.
    init(_ text: UnsafeRawBufferPointer, shift: Int64) {
        let first = text.firstIndex { $0 &- UInt8(ascii: "1") < 9 } ?? text.endIndex
        digits = UnsafeRawBufferPointer(rebasing: text[first...])
        self.shift = shift
    }

    /// By how much it is above another.
    func beyond(_ other: HugeExponent) -> Int64 {
        let count = max(digits.count, other.digits.count)
        var difference: Int64 = 0
        for place in (0..<count).reversed() {
            difference = difference * 10 + digit(place) - other.digit(place)
            // No further digit can bring it nearer to zero.
            guard abs(difference) < Self.exactMax else { break }
        }
        return difference + shift - other.shift
    }

    /// The digit for a power of ten.
    private func digit(_ power: Int) -> Int64 {
        power < digits.count ? Int64(digits[digits.count - 1 - power] &- UInt8(ascii: "0")) : 0
    }

    /// Equal exponents feed the same bytes, however they are written.
    func hash(into hasher: inout Hasher) {
        var sum: [UInt8] = []
        var carry = shift
        var power = 0
        while power < digits.count || carry != 0 {
            carry += digit(power)
            let rest = (carry % 10 + 10) % 10
            sum.append(UInt8(truncatingIfNeeded: rest))
            carry = (carry - rest) / 10
            power += 1
        }
        while sum.last == 0 { sum.removeLast() }
        sum.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
