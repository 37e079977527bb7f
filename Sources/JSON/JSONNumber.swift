/// A JSON number by its value, of any size and precision: `0.digits × 10^exponent`. It borrows the bytes that it was
/// made from, so it lives as long as they do.
package struct JSONNumber {
    package let isNegative: Bool
    /// The significant digits in ASCII, possibly with a point among them; neither begins nor ends with a zero.
    private let digits: UnsafeRawBufferPointer
    /// Digits of the whole part: how many of the significant digits stand before the decimal point, negative when
    /// zeros stand between. From `exponentMax` on, either way, it is `exponentMax`, and `huge` tells it in full.
    private let exponent: Int64
    private let huge: HugeExponent?

    private static let exponentMax: Int64 = 1 << 58

    /// `text` must be a number as RFC 8259 writes it.
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
            // Zero; a sign makes no difference to its value.
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

    /// What is written behind the `e`, and where the point is.
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

    /// Its significant digits as a word and its exponent, the same for numbers of the same magnitude; nil for one with
    /// more digits, or a larger exponent, than fit.
    package var shortDigits: (digits: UInt64, exponent: Int64)? {
        guard huge == nil, digitCount <= 19 else { return nil }
        var value: UInt64 = 0
        for byte in digits where byte != UInt8(ascii: ".") { value = value &* 10 &+ UInt64(byte &- UInt8(ascii: "0")) }
        return (value, exponent)
    }

    package var isZero: Bool { digits.isEmpty }

    /// Whether it is a whole number, however it is written.
    package var isInteger: Bool { isZero || exponent >= Int64(digitCount) }

    /// Its value when it is a whole number of 64 bits.
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

    /// Digits of a divisor, so that a remainder fits a word.
    package static var divisorDigitsMax: Int { 18 }

    /// Whether it is a whole multiple of `divisor`, which is above zero and within `divisorDigitsMax`; other
    /// divisors have no multiples here. The time does not depend on the exponents' values.
    package func isMultiple(of divisor: JSONNumber) -> Bool {
        guard !divisor.isNegative, !divisor.isZero, divisor.digitCount <= Self.divisorDigitsMax else { return false }
        guard !isZero else { return true }
        // d × 10^a over e × 10^b: d ends in no zero, so a negative power of ten is never divided away.
        let power = exponentsBeyond(divisor) - Int64(digitCount) + Int64(divisor.digitCount)
        guard power >= 0 else { return false }
        let modulus = divisor.digits.lazy.filter { $0 != UInt8(ascii: ".") }
            .reduce(UInt64(0)) { $0 &* 10 &+ UInt64($1 &- UInt8(ascii: "0")) }
        var rest = digitsRest(modulus)
        var factor = 10 % modulus
        // A divisor of 18 digits has fewer than 60 factors of 2 or 5: a higher power of ten divides no more of it.
        var exponentLeft = min(power, 64)
        while exponentLeft > 0 && rest != 0 {
            if exponentLeft & 1 == 1 { rest = Self.product(rest, factor, modulus) }
            factor = Self.product(factor, factor, modulus)
            exponentLeft >>= 1
        }
        return rest == 0
    }

    /// The remainder of all digits as one number, a word of them at a time.
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
        // Both are below the modulus: so is the high word of their product, and the division cannot trap.
        let (high, low) = (left % modulus).multipliedFullWidth(by: right % modulus)
        return modulus.dividingFullWidth((high, low)).remainder
    }

    /// Numbers of the same value feed the same bytes.
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

    /// By how much its exponent is above another number's: exact, or too large for any number of digits to matter.
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
