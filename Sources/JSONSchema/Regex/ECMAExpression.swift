/// Writes a regular expression of ECMA-262 (with the `u` flag, as JSON Schema reads patterns) as PCRE2 has it.
///
/// What differs: `\s`, `.` and `$` mean other characters, `\a`, `\Z`, `[:alpha:]`, `(*…)`, possessive quantifiers and
/// comments are not there, `\cX`, `\u{…}`, `[^]`, `\p{Letter}` and pairs of surrogates are written differently. One pass
/// from left to right, so no expression needs a deep stack.
struct ECMAExpression {
    private var reader: ECMAReader
    private var result: [UInt8] = []
    /// Groups that are open, and whether each may be repeated: what only looks around may not.
    private var open: [Bool] = []
    /// The names of the groups, by their number.
    private var names: [String: Int] = [:]
    private var groupCount = 0
    /// A quantifier may stand here.
    private var isRepeatable = false

    /// Groups inside each other; PCRE2 has the same limit.
    static let depthMax = 250

    static func translated(_ expression: UnsafeRawBufferPointer) throws(PatternError) -> [UInt8] {
        var translator = ECMAExpression(
            reader: ECMAReader(Array(String(decoding: expression, as: UTF8.self).unicodeScalars)))
        try translator.findGroups()
        try translator.translate()
        return translator.result
    }

    private init(reader: ECMAReader) { self.reader = reader }

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
                write(String(scalar))
                isRepeatable = false
            case "|":
                write("|")
                isRepeatable = false
            case ".":
                write(ECMAClass.anyButLineEnds)
                isRepeatable = true
            case "(": try openGroup()
            case ")": try closeGroup()
            case "[":
                var set = ECMAClass(reader)
                write(try set.translated())
                reader = set.reader
                isRepeatable = true
            case "\\": try escape()
            case "*", "+", "?", "{": try quantifier(scalar)
            case "]", "}":
                throw reader.error("\(scalar) must be written as \\\(scalar)", back: 1)
            default:
                write(scalar)
                isRepeatable = true
            }
        }
        guard open.isEmpty else { throw reader.error("a group is not closed") }
    }

    private mutating func openGroup() throws(PatternError) {
        var canRepeat = true
        if reader.take("?") {
            if reader.take(":") {
                write("(?:")
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
                    write("(")
                }
            } else {
                throw reader.error("there is no such group; known are (?: (?= (?! (?<= (?<! and (?<name>")
            }
        } else {
            write("(")
        }
        guard open.count < Self.depthMax else { throw reader.error("groups are nested too deep") }
        open.append(canRepeat)
        isRepeatable = false
    }

    private mutating func closeGroup() throws(PatternError) {
        guard let canRepeat = open.popLast() else { throw reader.error("a group is closed that is not open", back: 1) }
        write(")")
        isRepeatable = canRepeat
    }

    private mutating func quantifier(_ scalar: Unicode.Scalar) throws(PatternError) {
        guard isRepeatable else { throw reader.error("there is nothing to repeat before \(scalar)", back: 1) }
        isRepeatable = false
        guard scalar == "{" else {
            write(String(scalar))
            if reader.take("?") { write("?") }
            return
        }
        guard let least = reader.number() else {
            throw reader.error("{ must be written as \\{, or be a count", back: 1)
        }
        var most: Int? = least
        if reader.take(",") { most = reader.peek == "}" ? nil : reader.number() }
        guard reader.take("}"), most.map({ $0 >= least }) ?? true else {
            throw reader.error("the count is not in order")
        }
        // PCRE2 counts to 65,535; a larger maximum is as good as none to any text that is not longer.
        guard least <= Self.countMax else { throw reader.error("a count may be \(Self.countMax) at most") }
        let upper = most.map { $0 <= Self.countMax ? "\($0)" : "" } ?? ""
        write(most == least ? "{\(least)}" : "{\(least),\(upper)}")
        if reader.take("?") { write("?") }
    }

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
            write(#"\g{\#(number)}"#)
        case let digit? where ("1"..."9").contains(digit):
            guard let number = reader.number(), number <= groupCount else {
                throw reader.error("there is no group of this number")
            }
            write(#"\g{\#(number)}"#)
        case "-":
            throw reader.error(#"\- stands in [classes] only"#)
        default:
            switch try reader.classEscape() {
            case .scalar(let scalar): scalar.map { write($0) } ?? write("(?!)")
            case .set(let set): write("[\(set)]")
            case .property(let property): write(property)
            }
        }
    }

    private mutating func write(_ text: String) { result += Array(text.utf8) }

    private mutating func write(_ scalar: Unicode.Scalar) { write(scalar.asPCRE2) }
}

extension Unicode.Scalar {
    /// As a literal: letters and digits as they are, everything else by number.
    var asPCRE2: String {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_", " ": String(self)
        default: #"\x{\#(String(value, radix: 16))}"#
        }
    }
}
