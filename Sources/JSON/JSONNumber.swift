/// The value `0.digits × 10^exponent` of a JSON number of any size and precision. Borrows the bytes of the number's
/// text, which must outlive the value.
package struct JSONNumber {
    package let isNegative: Bool
    /// The significant digits in ASCII, possibly with a decimal point between them. The first and last digit are not
    /// zero.
    private let digits: UnsafeRawBufferPointer
    /// The exponent of `0.digits × 10^exponent`, limited to ±`exponentMax`. For a larger exponent, `huge` has the full
    /// value.
    private let exponent: Int64
    private let huge: HugeExponent?

    private static let exponentMax: Int64 = 1 << 58

    /// Reads the text of a number.
    ///
    /// - Parameter text: a valid number (RFC 8259).
    package init(_ text: UnsafeRawBufferPointer) {
        var place = 0
        let isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
        if isNegative { place = 1 }
        var point: Int?
        var first: Int?
        var last = place
        while place < text.count {
            let byte = text[place]
            if byte == UInt8(ascii: ".") {
                point = place
            } else if byte &- UInt8(ascii: "0") < 10 {
                if byte != UInt8(ascii: "0") {
                    if first == nil { first = place }
                    last = place
                }
            } else {
                break
            }
            place += 1
        }
        guard let first else {
            // A sign does not change the value of zero.
            self.isNegative = false
            digits = UnsafeRawBufferPointer(rebasing: text[0..<0])
            exponent = 0
            huge = nil
            return
        }
        let wholeEnd = point ?? place
        let whole = first < wholeEnd ? wholeEnd - first : wholeEnd - first + 1
        self.isNegative = isNegative
        digits = UnsafeRawBufferPointer(rebasing: text[first...last])
        guard place < text.count else {
            exponent = Int64(whole)
            huge = nil
            return
        }
        (exponent, huge) = Self.exponent(UnsafeRawBufferPointer(rebasing: text[(place + 1)...]), whole: Int64(whole))
    }

    /// Computes the exponent from the text after `e` and the position of the point.
    private static func exponent(_ text: UnsafeRawBufferPointer, whole: Int64) -> (Int64, HugeExponent?) {
        let isNegative = text.first == UInt8(ascii: "-")
        let shift = isNegative ? -whole : whole
        var written: Int64 = 0
        for byte in text where byte &- UInt8(ascii: "0") < 10 {
            written = min(written * 10 + Int64(byte &- UInt8(ascii: "0")), 2 * exponentMax)
        }
        let magnitude = written + shift
        guard magnitude >= exponentMax else { return (isNegative ? -magnitude : magnitude, nil) }
        return (isNegative ? -exponentMax : exponentMax, HugeExponent(text, shift: shift))
    }
}

extension JSONNumber {
    private var hasPoint: Bool { digits.contains(UInt8(ascii: ".")) }
    package var digitCount: Int { digits.count - (hasPoint ? 1 : 0) }

    /// The significant digits as a word, and the exponent. Equal for numbers of the same magnitude; nil if the digits
    /// or the exponent do not fit.
    package var shortDigits: (digits: UInt64, exponent: Int64)? {
        guard huge == nil, digitCount <= 19 else { return nil }
        var value: UInt64 = 0
        for byte in digits where byte != UInt8(ascii: ".") { value = value &* 10 &+ UInt64(byte &- UInt8(ascii: "0")) }
        return (value, exponent)
    }

    package var isZero: Bool { digits.isEmpty }

    /// Whether the value is a whole number, regardless of notation.
    package var isInteger: Bool { isZero || exponent >= Int64(digitCount) }

    /// The value as a 64-bit integer; nil if it is not whole or does not fit.
    package var int64: Int64? {
        guard !isZero else { return 0 }
        guard exponent <= 19, isInteger else { return nil }
        var value: Int64 = 0
        var left = Int(exponent)
        for byte in digits where byte != UInt8(ascii: ".") {
            guard let next = Self.shifted(value, by: Int64(byte &- UInt8(ascii: "0")), isNegative) else { return nil }
            value = next
            left -= 1
        }
        while left > 0 {
            guard let next = Self.shifted(value, by: 0, isNegative) else { return nil }
            value = next
            left -= 1
        }
        return value
    }

    private static func shifted(_ value: Int64, by digit: Int64, _ isNegative: Bool) -> Int64? {
        let (product, overflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflow2) =
            isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
        return overflow || overflow2 ? nil : sum
    }

    /// Maximum number of digits of a divisor. Remainders of such a divisor fit a word.
    package static var divisorDigitsMax: Int { 18 }

    /// Returns whether the number is a multiple of `divisor`. False unless `divisor` is positive and has at most
    /// `divisorDigitsMax` digits. The time does not depend on the exponents' values.
    package func isMultiple(of divisor: JSONNumber) -> Bool {
        guard !divisor.isNegative, !divisor.isZero, divisor.digitCount <= Self.divisorDigitsMax else { return false }
        guard !isZero else { return true }
        // The quotient is d × 10^a / (e × 10^b). d has no trailing zero, so a negative power of ten never cancels.
        let power = exponentsBeyond(divisor) - Int64(digitCount) + Int64(divisor.digitCount)
        guard power >= 0 else { return false }
        let modulus = divisor.digits.lazy.filter { $0 != UInt8(ascii: ".") }
            .reduce(UInt64(0)) { $0 &* 10 &+ UInt64($1 &- UInt8(ascii: "0")) }
        var rest = digitsRest(modulus)
        var factor = 10 % modulus
        // A divisor of at most 18 digits has fewer than 60 factors of 2 or 5. A higher power of ten therefore has no
        // further effect.
        var exponentLeft = min(power, 64)
        while exponentLeft > 0 && rest != 0 {
            if exponentLeft & 1 == 1 { rest = Self.product(rest, factor, modulus) }
            factor = Self.product(factor, factor, modulus)
            exponentLeft >>= 1
        }
        return rest == 0
    }

    /// Returns the remainder of the integer that all digits form, computed word by word.
    private func digitsRest(_ modulus: UInt64) -> UInt64 {
        var rest: UInt64 = 0
        var word: UInt64 = 0
        var scale: UInt64 = 1
        for byte in digits where byte != UInt8(ascii: ".") {
            word = word &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
            scale &*= 10
            guard scale >= 1_000_000_000_000_000_000 else { continue }
            rest = (Self.product(rest, scale, modulus) + word % modulus) % modulus
            (word, scale) = (0, 1)
        }
        return (Self.product(rest, scale, modulus) + word % modulus) % modulus
    }

    private static func product(_ left: UInt64, _ right: UInt64, _ modulus: UInt64) -> UInt64 {
        guard modulus > UInt32.max else { return (left % modulus) &* (right % modulus) % modulus }
        // Both factors are below the modulus, so the high word of their product is too, and the division cannot trap.
        let (high, low) = (left % modulus).multipliedFullWidth(by: right % modulus)
        return modulus.dividingFullWidth((high, low)).remainder
    }

    /// Feeds the same bytes for all numbers of equal value.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(isNegative)
        hasher.combine(exponent)
        huge?.hash(into: &hasher)
        guard let point = digits.firstIndex(of: UInt8(ascii: ".")) else { return hasher.combine(bytes: digits) }
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: digits[..<point]))
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: digits[(point + 1)...]))
    }
}

extension JSONNumber: Comparable {
    package static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.isNegative == right.isNegative && compareMagnitude(left, right) == 0
    }

    package static func < (left: JSONNumber, right: JSONNumber) -> Bool {
        guard left.isNegative == right.isNegative else { return left.isNegative }
        let order = compareMagnitude(left, right)
        return left.isNegative ? order > 0 : order < 0
    }

    private static func compareMagnitude(_ left: JSONNumber, _ right: JSONNumber) -> Int {
        guard !left.isZero, !right.isZero else { return (left.isZero ? 0 : 1) - (right.isZero ? 0 : 1) }
        let beyond = left.exponentsBeyond(right)
        guard beyond == 0 else { return beyond < 0 ? -1 : 1 }
        var leftDigits = left.digits.makeIterator()
        var rightDigits = right.digits.makeIterator()
        while true {
            switch (nextDigit(&leftDigits), nextDigit(&rightDigits)) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let a?, let b?) where a != b: return a < b ? -1 : 1
            default: continue
            }
        }
    }

    /// Returns the difference of the exponents. It is exact, or too large for any number of digits to matter.
    private func exponentsBeyond(_ other: JSONNumber) -> Int64 {
        guard let huge, let otherHuge = other.huge, (exponent < 0) == (other.exponent < 0) else {
            return exponent - other.exponent
        }
        return exponent < 0 ? otherHuge.beyond(huge) : huge.beyond(otherHuge)
    }

    private static func nextDigit(_ digits: inout UnsafeRawBufferPointer.Iterator) -> UInt8? {
        let byte = digits.next()
        return byte == UInt8(ascii: ".") ? digits.next() : byte
    }
}
