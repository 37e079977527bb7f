/// A translation of a regular expression of ECMA-262 (with the `u` flag, as in JSON Schema) to PCRE2.
///
/// In PCRE2, `\s` and `.` match other characters, and `$` other positions. ECMA-262 has no `\a`, `\Z`, `[:alpha:]`,
/// `(*…)`, possessive quantifiers or comments. PCRE2 has another notation for `\u{…}`, `[^]`,
/// `\p{Letter}` and surrogate pairs. The translation needs no recursion.
struct ECMAExpression {
    private var reader: ECMAReader
    private(set) var asPCRE2: [UInt8] = []
    /// The tokens for an automaton; nil if the expression has lookarounds, word boundaries, backreferences or Unicode
    /// properties.
    private(set) var tokens: [RegularExpression.Token]? = []
    /// For each open group, whether it may be repeated. A lookaround may not.
    private var open: [Bool] = []
    /// The numbers of named groups. Names are compared by scalars, not by canonical equivalence.
    private var names: [[Unicode.Scalar]: Int] = [:]
    private var groupCount = 0
    /// Maximum number of searches per character. PCRE2 searches for Unicode properties, and in a class for characters
    /// that PCRE2's table does not cover.
    private(set) var searchesMax = 0
    /// Whether a quantifier may follow the translated part.
    private var isRepeatable = false

    /// Maximum nesting of groups. PCRE2 has the same limit.
    static let depthMax = 250

    init(_ expression: UnsafeRawBufferPointer) throws(PatternError) {
        reader = ECMAReader(Array(String(decoding: expression, as: UTF8.self).unicodeScalars))
        try findGroups()
        try translate()
    }

    /// Returns whether a text is a regular expression of ECMA-262.
    static func isExpression(_ text: UnsafeRawBufferPointer) -> Bool {
        (try? ECMAExpression(text)) != nil
    }

    /// Counts the capturing groups and registers their names before the translation, because a reference may precede
    /// its group.
    private mutating func findGroups() throws(PatternError) {
        var scan = reader
        var isInClass = false
        while let scalar = scan.next() {
            switch scalar {
            case "\\": _ = scan.next()
            case "[": isInClass = true
            case "]": isInClass = false
            case "(" where !isInClass:
                guard scan.take("?") else {
                    groupCount += 1
                    continue
                }
                guard scan.take("<"), scan.peek != "=", scan.peek != "!" else { continue }
                groupCount += 1
                let name = try scan.groupName()
                guard names.updateValue(groupCount, forKey: name) == nil else {
                    throw scan.error("duplicate group name")
                }
            default: break
            }
        }
    }

    private mutating func translate() throws(PatternError) {
        while let scalar = reader.next() {
            switch scalar {
            case "^", "$":
                write(String(scalar), scalar == "^" ? .start : .end)
                isRepeatable = false
            case "|":
                write("|", .or)
                isRepeatable = false
            case ".": write(ScalarSet.lineEnds.inverted)
            case "(": try openGroup()
            case ")": try closeGroup()
            case "[":
                let members = try ECMAClass(&reader)
                write(members.asPCRE2, members.properties.isEmpty ? .set(members.set) : nil)
                noteSearches(members.properties.count + (members.set.isWide ? 1 : 0))
                isRepeatable = true
            case "\\": try escape()
            case "*", "+", "?", "{": try quantifier(scalar)
            case "]", "}":
                throw reader.error("\(scalar) must be written as \\\(scalar)", back: 1)
            default: write(ScalarSet([scalar.value...scalar.value]))
            }
        }
        guard open.isEmpty else { throw reader.error("unclosed group") }
    }

    private mutating func openGroup() throws(PatternError) {
        var canRepeat = true
        if reader.take("?") {
            if reader.take(":") {
                write("(?:", .open)
            } else if reader.take("=") {
                write("(?=")
                canRepeat = false
            } else if reader.take("!") {
                write("(?!")
                canRepeat = false
            } else if reader.take("<") {
                if reader.take("=") {
                    write("(?<=")
                    canRepeat = false
                } else if reader.take("!") {
                    write("(?<!")
                    canRepeat = false
                } else {
                    // Omit the name and refer to groups by number, because PCRE2 does not allow all names of ECMA-262.
                    _ = try reader.groupName()
                    write("(", .open)
                }
            } else {
                throw reader.error("unknown group syntax; known: (?: (?= (?! (?<= (?<! and (?<name>")
            }
        } else {
            write("(", .open)
        }
        guard open.count < Self.depthMax else { throw reader.error("groups are nested too deeply") }
        open.append(canRepeat)
        isRepeatable = false
    }

    private mutating func closeGroup() throws(PatternError) {
        guard let canRepeat = open.popLast() else { throw reader.error("unmatched )", back: 1) }
        write(")", .close)
        isRepeatable = canRepeat
    }

    private mutating func quantifier(_ scalar: Unicode.Scalar) throws(PatternError) {
        guard isRepeatable else { throw reader.error("nothing to repeat before \(scalar)", back: 1) }
        isRepeatable = false
        guard scalar == "{" else {
            let most = scalar == "?" ? 1 : nil
            return writeCount(String(scalar), .count(least: scalar == "+" ? 1 : 0, most: most))
        }
        guard let least = reader.number() else {
            throw reader.error("{ must be written as \\{, or begin a count", back: 1)
        }
        var most: Int? = least
        if reader.take(",") { most = reader.peek == "}" ? nil : reader.number() }
        guard reader.take("}"), most.map({ $0 >= least }) ?? true else {
            throw reader.error("the count is malformed or out of order")
        }
        guard max(least, most ?? 0) <= Self.countMax else {
            throw reader.error("a count must be at most \(Self.countMax)")
        }
        let upper = most.map { "\($0)" } ?? ""
        writeCount(most == least ? "{\(least)}" : "{\(least),\(upper)}", .count(least: least, most: most))
    }

    /// Writes a quantifier. Without backreferences, lazy and greedy quantifiers match the same texts, so the token is
    /// the same.
    private mutating func writeCount(_ text: String, _ token: RegularExpression.Token) {
        write(text + (reader.take("?") ? "?" : ""), token)
    }

    /// Maximum count in a quantifier, the limit of PCRE2.
    static let countMax = 65_535

    /// Translates an escape outside of a class, after its backslash.
    private mutating func escape() throws(PatternError) {
        isRepeatable = true
        switch reader.peek {
        case "b", "B":
            write(reader.take("b") ? #"\b"# : #"\B"#)
            _ = reader.take("B")
            isRepeatable = false
        case "k":
            _ = reader.next()
            guard reader.take("<") else { throw reader.error("\\k needs the <name> of a group") }
            let name = try reader.groupName()
            guard let number = names[name] else { throw reader.error("unknown group name") }
            write(#"(?:\g{\#(number)})"#)
        case let digit? where ("1"..."9").contains(digit):
            guard let number = reader.number(), number <= groupCount else {
                throw reader.error("unknown group number")
            }
            write(#"(?:\g{\#(number)})"#)
        case "-":
            throw reader.error(#"\- is allowed only in [classes]"#)
        default:
            switch try reader.classEscape() {
            case .scalar(let value): write(ScalarSet([value...value]))
            case .set(let set): write(set)
            case .property(let property):
                write(property)
                noteSearches(1)
            }
        }
    }

    /// Appends a part to the translation and to the tokens.
    ///
    /// - Parameter token: the meaning of the part; nil if an automaton cannot implement it.
    private mutating func write(_ text: String, _ token: RegularExpression.Token? = nil) {
        asPCRE2 += Array(text.utf8)
        if let token { tokens?.append(token) } else { tokens = nil }
    }

    private mutating func noteSearches(_ count: Int) { searchesMax = max(searchesMax, count) }

    private mutating func write(_ set: ScalarSet) {
        write(set.asPCRE2, .set(set))
        noteSearches(set.isWide ? 1 : 0)
        isRepeatable = true
    }
}
