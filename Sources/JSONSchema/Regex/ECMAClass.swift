/// A class of characters in brackets.
struct ECMAClass {
    private(set) var reader: ECMAReader

    /// White space and line ends of ECMA-262, as members of a class of PCRE2.
    static let space =
        #"\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"#
    /// What `.` matches.
    static let anyButLineEnds = #"[^\x{a}\x{d}\x{2028}\x{2029}]"#

    /// `reader` stands behind the opening bracket.
    init(_ reader: ECMAReader) { self.reader = reader }

    /// The whole class as an expression of PCRE2. What is inverted inside cannot stand in a class there: it becomes an
    /// alternative beside it, or for an inverted class something to look ahead for.
    mutating func translated() throws(PatternError) -> String {
        let isInverted = reader.take("^")
        var members = ""
        var others: [String] = []
        while true {
            guard let scalar = reader.next() else { throw reader.error("a class is not closed") }
            if scalar == "]" { break }
            let first = try member(scalar)
            guard reader.peek == "-" else {
                add(first, &members, &others)
                continue
            }
            _ = reader.take("-")
            guard let next = reader.next() else { throw reader.error("a class is not closed") }
            if next == "]" {
                add(first, &members, &others)
                members += #"\x{2d}"#
                break
            }
            members += try range(first, try member(next))
        }
        let set = members.isEmpty ? "(?!)" : "[\(members)]"
        guard isInverted else {
            return others.isEmpty ? set : "(?:" + ([set] + others).joined(separator: "|") + ")"
        }
        let inverted = members.isEmpty ? #"[\s\S]"# : "[^\(members)]"
        return others.isEmpty ? inverted : "(?:(?!\(others.joined(separator: "|")))\(inverted))"
    }

    private mutating func member(_ scalar: Unicode.Scalar) throws(PatternError) -> Member {
        guard scalar == "\\" else { return .scalar(scalar.value) }
        if reader.take("b") { return .scalar(8) }
        var ahead = reader
        switch try reader.classEscape() {
        case .scalar(let scalar?): return .scalar(scalar.value)
        // Half of a pair: no text has it, but a range can begin or end there.
        case .scalar(nil): return .scalar(try ahead.surrogate())
        case .set(let set): return .set(set)
        case .property(let property): return property.first == "[" ? .other(property) : .set(property)
        }
    }

    private enum Member {
        case scalar(UInt32)
        case set(String)
        /// An expression that cannot stand in a class of PCRE2.
        case other(String)
    }

    private func add(_ member: Member, _ members: inout String, _ others: inout [String]) {
        switch member {
        case .scalar(let value): members += text(value, value)
        case .set(let set): members += set
        case .other(let expression): others.append(expression)
        }
    }

    private func range(_ first: Member, _ last: Member) throws(PatternError) -> String {
        guard case .scalar(let low) = first, case .scalar(let high) = last, low <= high else {
            throw reader.error("a range goes from one character to one that is not before it", back: 1)
        }
        return text(low, high)
    }

    /// Without the surrogates, which PCRE2 does not take.
    private func text(_ low: UInt32, _ high: UInt32) -> String {
        let low = (0xD800..<0xE000).contains(low) ? 0xE000 : low
        let high = (0xD800..<0xE000).contains(high) ? 0xD7FF : high
        guard low <= high else { return "" }
        let first = #"\x{\#(String(low, radix: 16))}"#
        return low == high ? first : first + #"-\x{\#(String(high, radix: 16))}"#
    }
}

extension ECMAReader {
    /// The number of half a pair, behind its backslash.
    fileprivate mutating func surrogate() throws(PatternError) -> UInt32 {
        _ = take("u")
        let isBraced = take("{")
        var value: UInt32 = 0
        var digits = 0
        while let scalar = peek, let digit = UInt32(String(scalar), radix: 16), isBraced || digits < 4 {
            value = min(value << 4 | digit, 0xFFFF)
            digits += 1
            _ = next()
        }
        return value
    }
}
