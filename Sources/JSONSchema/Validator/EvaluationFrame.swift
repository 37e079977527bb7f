/// The state of the check of a value against a subschema that has applicators.
struct EvaluationFrame {
    var schema: Int
    var instruction: Int
    var node: Int
    /// Whether violations, except exceeded limits and circular references, are discarded. This is the case inside an
    /// alternative, a condition, a negation or `contains`.
    var isSpeculative: Bool
    /// Whether evaluated members or elements must be marked.
    var tracks: Bool
    /// Whether the marks also apply to the frame below.
    var keepsMarks: Bool
    var isValid = true
    /// The index of the frame's first mark.
    var firstMark: Int

    // The progress of the current instruction.
    var cursor = 0
    var step = 0
    var count = 0
    var isNamed = false

    mutating func next() {
        instruction += 1
        cursor = 0
        step = 0
        count = 0
        isNamed = false
    }
}

/// The result of an instruction.
enum EvaluationOutcome {
    case valid
    case invalid
    /// A pushed frame. The instruction continues after the frame has ended.
    case waits

    @inline(__always) init(_ isValid: Bool) { self = isValid ? .valid : .invalid }
}
