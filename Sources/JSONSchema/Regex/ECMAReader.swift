/// A reader of the characters, numbers, group names and escapes of an expression.
struct ECMAReader {
    private let scalars: [Unicode.Scalar]
    private var place = 0

    init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    var peek: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

    mutating func next() -> Unicode.Scalar? {
        guard place < scalars.count else { return nil }
        place += 1
        return scalars[place - 1]
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        place += 1
        return true
    }

    func error(_ message: String, back: Int = 0) -> PatternError {
        let offset = scalars[..<max(place - back, 0)].reduce(0) { $0 + Unicode.UTF8.width($1) }
        return PatternError(message: message, offset: offset)
    }

    /// Reads digits as a number, clamped to 1,000,000,000. Returns nil if no digit follows.
    mutating func number() -> Int? {
        var value: Int?
        while let digit = peek, ("0"..."9").contains(digit) {
            value = min((value ?? 0) * 10 + Int(digit.value - 48), 1_000_000_000)
            place += 1
        }
        return value
    }

    /// Reads a group name after `(?<` or `\k<`, including its `>`.
    mutating func groupName() throws(PatternError) -> [Unicode.Scalar] {
        var name: [Unicode.Scalar] = []
        while var scalar = next() {
            if scalar == ">", !name.isEmpty { return name }
            if scalar == "\\" {
                guard take("u"), let escaped = Unicode.Scalar(try unicodeEscape()) else { break }
                scalar = escaped
            }
            let isStart = scalar == "_" || scalar == "$" || scalar.properties.isIDStart
            let canContinue = scalar.properties.isIDContinue || scalar == "\u{200C}" || scalar == "\u{200D}"
            guard isStart || !name.isEmpty && canContinue else { break }
            name.append(scalar)
        }
        throw error("invalid group name", back: 1)
    }

    /// The meaning of an escape inside or outside of a class.
    enum Escape {
        /// A code point, possibly a surrogate. No text contains surrogates, but a range can begin or end at a
        /// surrogate.
        case scalar(UInt32)
        case set(ScalarSet)
        /// A Unicode property, in PCRE2's notation.
        case property(String)
    }

    /// Reads an escape after its backslash.
    mutating func classEscape() throws(PatternError) -> Escape {
        guard let scalar = next() else { throw error("the expression ends in a backslash") }
        switch scalar {
        case "d": return .set(.digits)
        case "D": return .set(ScalarSet.digits.inverted)
        case "w": return .set(.wordCharacters)
        case "W": return .set(ScalarSet.wordCharacters.inverted)
        case "s": return .set(.spaces)
        case "S": return .set(ScalarSet.spaces.inverted)
        case "p", "P": return .property(try property(isInverted: scalar == "P"))
        case "t": return .scalar(9)
        case "n": return .scalar(10)
        case "v": return .scalar(11)
        case "f": return .scalar(12)
        case "r": return .scalar(13)
        case "0":
            if let digit = peek, ("0"..."9").contains(digit) { throw error("\\0 must not be followed by a digit") }
            return .scalar(0)
        case "c":
            guard let letter = next(), letter.isASCII, letter.properties.isAlphabetic else {
                throw error("\\c needs a letter")
            }
            return .scalar(letter.value & 31)
        case "x":
            guard let value = hexDigits(2) else { throw error("\\x needs two hexadecimal digits") }
            return .scalar(value)
        case "u": return .scalar(try unicodeEscape())
        case "^", "$", "\\", ".", "*", "+", "?", "(", ")", "[", "]", "{", "}", "|", "/", "-":
            return .scalar(scalar.value)
        default:
            throw error("\\\(scalar) has no meaning in regular expressions of ECMA-262", back: 2)
        }
    }

    private mutating func hexDigits(_ count: Int) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let number = next()?.hexDigitValue else { return nil }
            value = value << 4 | number
        }
        return value
    }

    /// Reads `\u0041`, `\u{41}` or `\uD83D\uDE00` after its `\u`.
    private mutating func unicodeEscape() throws(PatternError) -> UInt32 {
        if take("{") {
            var value: UInt32 = 0
            var count = 0
            while let digit = peek?.hexDigitValue {
                value = min(value << 4 | digit, 0x11_0000)
                place += 1
                count += 1
            }
            guard count > 0, take("}"), value < 0x11_0000 else { throw error("\\u{…} needs a code point") }
            return value
        }
        guard let value = hexDigits(4) else { throw error("\\u needs four hexadecimal digits") }
        guard (0xD800..<0xDC00).contains(value) else { return value }
        var ahead = self
        guard ahead.take("\\"), ahead.take("u"), let low = ahead.hexDigits(4), (0xDC00..<0xE000).contains(low) else {
            return value
        }
        self = ahead
        return 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
    }

    /// Reads a property after `\p` or `\P`. Returns the property in PCRE2's notation.
    private mutating func property(isInverted: Bool) throws(PatternError) -> String {
        guard take("{") else { throw error("\\p and \\P need a {property}") }
        var text = ""
        while !take("}") {
            guard let scalar = next(), scalar.isASCII,
                scalar.properties.isAlphabetic || scalar == "_" || scalar == "=" || ("0"..."9").contains(scalar)
            else { throw error("invalid property name", back: 1) }
            text.unicodeScalars.append(scalar)
        }
        guard let name = ECMAProperty.asPCRE2(text) else { throw error("unknown property \(text)") }
        return "\\\(isInverted != name.isInverted ? "P" : "p"){\(name.text)}"
    }
}

extension Unicode.Scalar {
    fileprivate var hexDigitValue: UInt32? { UInt8(exactly: value).flatMap(\.hexDigitValue).map { UInt32($0) } }
}
