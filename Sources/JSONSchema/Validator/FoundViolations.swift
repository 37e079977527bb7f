/// The violations found so far, as indices of nodes and instructions. The messages are created at the end.
struct FoundViolations {
    struct Violation {
        var kind: Kind
        /// The node of the value, or of the invalid key.
        var node: Int
        /// The index of the violated instruction.
        var instruction: Int
        /// The index of the keyword's location if the instruction has several keywords; otherwise nil.
        var location: Int?
        /// The slots of a missing name and of the name that requires it. For `required`, both are the slot of the
        /// missing name. Nil for other violations.
        var names: (missing: Int, because: Int)?
        /// The conditions of the rule, innermost first.
        var conditions: [Condition] = []
        /// The first violation of each alternative of `anyOf` or `oneOf` that accepts the value's type; empty if the
        /// alternatives are not described.
        var choices: [Violation] = []
        /// Whether more than one alternative of a `oneOf` is known to hold.
        var holdsTooOften = false
    }

    /// An `if` and its result.
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
        /// A dynamic reference that returns to itself for the same value.
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
