/// The magnitude of an exponent of at least 2⁵⁸, as in `1e100000000000000000000`. Consists of the written digits, and a
/// shift for the position of the decimal point. Borrows the number's bytes.
struct HugeExponent {
    /// The written digits in ASCII, without leading zeros.
    private let digits: UnsafeRawBufferPointer
    private let shift: Int64

    /// The magnitude up to which differences are exact.
    private static let exactMax: Int64 = 1 << 56

    /// Reads the digits of an exponent.
    ///
    /// - Parameter text: the part of a number after its `e`.
    init(_ text: UnsafeRawBufferPointer, shift: Int64) {
        let first = text.firstIndex { $0 &- UInt8(ascii: "1") < 9 } ?? text.endIndex
        digits = UnsafeRawBufferPointer(rebasing: text[first...])
        self.shift = shift
    }

    /// Returns this magnitude minus `other`. A difference beyond `exactMax` is approximate, and has the correct sign.
    func beyond(_ other: HugeExponent) -> Int64 {
        let count = max(digits.count, other.digits.count)
        var difference: Int64 = 0
        for place in (0..<count).reversed() {
            difference = difference * 10 + digit(place) - other.digit(place)
            // Further digits cannot bring the difference below the limit.
            guard abs(difference) < Self.exactMax else { break }
        }
        return difference + shift - other.shift
    }

    /// Returns the digit for a power of ten.
    private func digit(_ power: Int) -> Int64 {
        power < digits.count ? Int64(digits[digits.count - 1 - power] &- UInt8(ascii: "0")) : 0
    }

    /// Feeds equal exponents as the same bytes, regardless of notation.
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
