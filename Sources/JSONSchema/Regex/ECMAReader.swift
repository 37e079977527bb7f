/// Reads the parts of an expression that stand outside and inside of classes alike.
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

    /// Digits as a number, which saturates.
    mutating func number() -> Int? {
        var value: Int?
        while let digit = peek, ("0"..."9").contains(digit) {
            value = min((value ?? 0) * 10 + Int(digit.value - 48), 1_000_000_000)
            place += 1
        }
        return value
    }

    /// Behind `(?<` or `\k<`, up to its `>`.
    mutating func groupName() throws(PatternError) -> String {
        var name = String.UnicodeScalarView()
        while let scalar = next() {
            if scalar == ">", let first = name.first, !("0"..."9").contains(first) { return String(name) }
            guard scalar == "_" || scalar == "$" || scalar.properties.isIDContinue else { break }
            name.append(scalar)
        }
        throw error("this is not the <name> of a group", back: 1)
    }

    /// What an escape can stand for in a class and outside.
    enum Escape {
        /// nil: half of a surrogate pair, which no text has.
        case scalar(Unicode.Scalar?)
        /// Members of a class of PCRE2, without the brackets.
        case set(String)
        /// A property that stands for itself, inside and outside.
        case property(String)
    }

    /// Behind a backslash.
    mutating func classEscape() throws(PatternError) -> Escape {
        guard let scalar = next() else { throw error("the expression ends in a backslash") }
        switch scalar {
        case "d": return .set("0-9")
        case "D": return .property("[^0-9]")
        case "w": return .set("0-9A-Za-z_")
        case "W": return .property("[^0-9A-Za-z_]")
        case "s": return .set(ECMAClass.space)
        case "S": return .property("[^\(ECMAClass.space)]")
        case "p", "P": return .property(try property(isInverted: scalar == "P"))
        case "t": return .scalar("\t")
        case "n": return .scalar("\n")
        case "v": return .scalar("\u{0B}")
        case "f": return .scalar("\u{0C}")
        case "r": return .scalar("\r")
        case "0":
            if let digit = peek, ("0"..."9").contains(digit) { throw error("\\0 must not be followed by a digit") }
            return .scalar("\0")
        case "c":
            guard let letter = next(), letter.isASCII, letter.properties.isAlphabetic else {
                throw error("\\c needs a letter")
            }
            return .scalar(Unicode.Scalar(letter.value & 31))
        case "x":
            guard let value = hexDigits(2) else { throw error("\\x needs two hexadecimal digits") }
            return .scalar(Unicode.Scalar(value))
        case "u": return .scalar(try unicodeEscape())
        case "^", "$", "\\", ".", "*", "+", "?", "(", ")", "[", "]", "{", "}", "|", "/", "-":
            return .scalar(scalar)
        default:
            throw error("\\\(scalar) has no meaning in regular expressions of ECMA-262", back: 2)
        }
    }

    private mutating func hexDigits(_ count: Int) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let digit = next(), let number = hexDigit(digit) else { return nil }
            value = value << 4 | number
        }
        return value
    }

    private func hexDigit(_ scalar: Unicode.Scalar) -> UInt32? {
        switch scalar {
        case "0"..."9": scalar.value - 48
        case "a"..."f": scalar.value - 87
        case "A"..."F": scalar.value - 55
        default: nil
        }
    }

    /// `\u0041`, `\u{41}`, `\uD83D\uDE00`.
    private mutating func unicodeEscape() throws(PatternError) -> Unicode.Scalar? {
        if take("{") {
            var value: UInt32 = 0
            var count = 0
            while let digit = peek.flatMap(hexDigit) {
                value = min(value << 4 | digit, 0x11_0000)
                place += 1
                count += 1
            }
            guard count > 0, take("}"), value < 0x11_0000 else { throw error("\\u{…} needs the number of a character") }
            return Unicode.Scalar(value)
        }
        guard let value = hexDigits(4) else { throw error("\\u needs four hexadecimal digits") }
        guard (0xD800..<0xDC00).contains(value) else { return Unicode.Scalar(value) }
        var ahead = self
        guard ahead.take("\\"), ahead.take("u"), let low = ahead.hexDigits(4), (0xDC00..<0xE000).contains(low) else {
            return nil
        }
        self = ahead
        return Unicode.Scalar(0x10000 + (value - 0xD800) << 10 + (low - 0xDC00))
    }

    /// Behind `\p` or `\P`.
    private mutating func property(isInverted: Bool) throws(PatternError) -> String {
        guard take("{") else { throw error("\\p needs a {property}") }
        var text = ""
        while let scalar = next(), scalar != "}" {
            guard scalar.isASCII,
                scalar.properties.isAlphabetic || scalar == "_" || scalar == "=" || ("0"..."9").contains(scalar)
            else { throw error("this is not the name of a property", back: 1) }
            text.unicodeScalars.append(scalar)
        }
        guard let name = ECMAProperty.asPCRE2(text) else { throw error("there is no property \(text)") }
        return "\\\(isInverted != name.isInverted ? "P" : "p"){\(name.text)}"
    }
}
