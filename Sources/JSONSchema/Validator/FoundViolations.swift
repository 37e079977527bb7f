/// What was found, by number: the words are made when all is over.
struct FoundViolations {
    struct Violation {
        var kind: Kind
        /// Node of the value, or of the key that is wrong.
        var node: Int
        /// The instruction, or for a rule of several keywords the keyword's location.
        var instruction: Int
        var location: Int?
        /// The slot of a name that is missing, or is the reason why another one must be there.
        var names: (missing: Int, because: Int)?
        /// The conditions below which the rule stands, the nearest first.
        var conditions: [Condition] = []
        /// Of `anyOf` and `oneOf`: what each alternative that is for the value's type has against the value itself.
        var choices: [Violation] = []
        /// Of `oneOf`: more than one alternative holds.
        var holdsTooOften = false
    }

    /// `if`, and what it came to.
    struct Condition {
        var instruction: Int
        var node: Int
        var holds: Bool
    }

    enum Kind {
        case keyword
        case required
        case unknownProperty
        case dependentRequired
        case patternGaveUp
        case stepsMax
        /// A dynamic reference came back to itself for the same value.
        case circle
    }

    private(set) var list: [Violation] = []
    var max = 1

    var isFull: Bool { list.count >= max }

    mutating func removeAll() { list.removeAll(keepingCapacity: true) }

    mutating func append(_ violation: Violation) {
        if !isFull { list.append(violation) }
    }
}
