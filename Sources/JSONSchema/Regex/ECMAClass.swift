/// A character class in brackets.
struct ECMAClass {
    private(set) var set = ScalarSet()
    /// Unicode properties of the class, in PCRE2's notation.
    private(set) var properties: [String] = []
    private var isInverted = false

    /// Parses a class after its opening bracket, including the closing bracket.
    init(_ reader: inout ECMAReader) throws(PatternError) {
        isInverted = reader.take("^")
        while let scalar = reader.next() {
            guard scalar != "]" else {
                if isInverted && properties.isEmpty { (set, isInverted) = (set.inverted, false) }
                return
            }
            let first = try member(scalar, &reader)
            guard reader.take("-") else {
                add(first)
                continue
            }
            if reader.peek == "]" {
                add(first)
                set.insert(0x2D...0x2D)
                continue
            }
            guard let next = reader.next() else { break }
            guard case .scalar(let low) = first, case .scalar(let high) = try member(next, &reader), low <= high else {
                throw reader.error("the range is out of order, or a bound is not a character", back: 1)
            }
            set.insert(low...high)
        }
        throw reader.error("unclosed class")
    }

    /// The class in PCRE2's notation.
    var asPCRE2: String {
        guard !properties.isEmpty else { return set.asPCRE2 }
        return (isInverted ? "[^" : "[") + set.members + properties.joined() + "]"
    }

    private func member(
        _ scalar: Unicode.Scalar, _ reader: inout ECMAReader
    ) throws(PatternError) -> ECMAReader.Escape {
        guard scalar == "\\" else { return .scalar(scalar.value) }
        return reader.take("b") ? .scalar(8) : try reader.classEscape()
    }

    private mutating func add(_ member: ECMAReader.Escape) {
        switch member {
        case .scalar(let value): set.insert(value...value)
        case .set(let other): set.formUnion(other)
        case .property(let property): properties.append(property)
        }
    }
}
