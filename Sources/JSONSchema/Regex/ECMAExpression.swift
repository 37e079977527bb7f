/// Writes a regular expression of ECMA-262 (with the `u` flag, as JSON Schema reads patterns) as PCRE2 has it.
///
/// What differs: `\s`, `.` and `$` mean other characters, `\a`, `\Z`, `[:alpha:]`, `(*…)`, possessive quantifiers and
/// comments are not there, `\cX`, `\u{…}`, `[^]`, `\p{Letter}` and pairs of surrogates are written differently. One pass
/// from left to right, so no expression needs a deep stack.
struct ECMAExpression {
    private var reader: ECMAReader
    private(set) var asPCRE2: [UInt8] = []
    /// nil for an expression that looks around or back, or asks for properties of Unicode.
    private(set) var tokens: [RegularExpression.Token]? = []
    /// Groups that are open, and whether each may be repeated: what only looks around may not.
    private var open: [Bool] = []
    /// The names of the groups, by their number; none is another one because both look alike.
    private var names: [[Unicode.Scalar]: Int] = [:]
    private var groupCount = 0
    /// How often at most a character is looked up, for properties of Unicode or in a class that goes beyond a table.
    private(set) var searchesMax = 0
    /// A quantifier may stand here.
    private var isRepeatable = false

    /// Groups inside each other; PCRE2 has the same limit.
    static let depthMax = 250

    init(_ expression: UnsafeRawBufferPointer) throws(PatternError) {
        reader = ECMAReader(Array(String(decoding: expression, as: UTF8.self).unicodeScalars))
        try findGroups()
        try translate()
    }

    /// Whether a text is a regular expression of ECMA-262.
    static func isExpression(_ text: UnsafeRawBufferPointer) -> Bool {
        (try? ECMAExpression(text)) != nil
    }

    /// Numbers all groups: references may come before what they refer to.
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
                    throw scan.error("two groups have the same name")
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
        guard open.isEmpty else { throw reader.error("a group is not closed") }
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
                    // Groups go by number: names of ECMA-262 have characters that those of PCRE2 have not.
                    _ = try reader.groupName()
                    write("(", .open)
                }
            } else {
                throw reader.error("there is no such group; known are (?: (?= (?! (?<= (?<! and (?<name>")
            }
        } else {
            write("(", .open)
        }
        guard open.count < Self.depthMax else { throw reader.error("groups are nested too deep") }
        open.append(canRepeat)
        isRepeatable = false
    }

    private mutating func closeGroup() throws(PatternError) {
        guard let canRepeat = open.popLast() else { throw reader.error("a group is closed that is not open", back: 1) }
        write(")", .close)
        isRepeatable = canRepeat
    }

    private mutating func quantifier(_ scalar: Unicode.Scalar) throws(PatternError) {
        guard isRepeatable else { throw reader.error("there is nothing to repeat before \(scalar)", back: 1) }
        isRepeatable = false
        guard scalar == "{" else {
            let most = scalar == "?" ? 1 : nil
            return writeCount(String(scalar), .count(least: scalar == "+" ? 1 : 0, most: most))
        }
        guard let least = reader.number() else {
            throw reader.error("{ must be written as \\{, or be a count", back: 1)
        }
        var most: Int? = least
        if reader.take(",") { most = reader.peek == "}" ? nil : reader.number() }
        guard reader.take("}"), most.map({ $0 >= least }) ?? true else {
            throw reader.error("the count is not in order")
        }
        guard max(least, most ?? 0) <= Self.countMax else {
            throw reader.error("a count may be \(Self.countMax) at most")
        }
        let upper = most.map { "\($0)" } ?? ""
        writeCount(most == least ? "{\(least)}" : "{\(least),\(upper)}", .count(least: least, most: most))
    }

    /// Whether lazy or not: what matches is the same without groups that are looked back at.
    private mutating func writeCount(_ text: String, _ token: RegularExpression.Token) {
        write(text + (reader.take("?") ? "?" : ""), token)
    }

    /// That of PCRE2.
    static let countMax = 65_535

    /// Behind a backslash outside of a class.
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
            guard let number = names[name] else { throw reader.error("there is no group of this name") }
            write(#"(?:\g{\#(number)})"#)
        case let digit? where ("1"..."9").contains(digit):
            guard let number = reader.number(), number <= groupCount else {
                throw reader.error("there is no group of this number")
            }
            write(#"(?:\g{\#(number)})"#)
        case "-":
            throw reader.error(#"\- stands in [classes] only"#)
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

    /// `token`: what it means, where that can be followed without PCRE2.
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
