/// A subschema with applicators that is being checked for a value.
struct EvaluationFrame {
    var schema: Int
    var instruction: Int
    var node: Int
    /// Nothing outside learns why it failed: it is an alternative, a condition or a negation.
    var isSpeculative: Bool
    /// Somebody asks which members or elements are evaluated here.
    var tracks: Bool
    /// What is evaluated here is so for the frame below as well.
    var keepsMarks: Bool
    var isValid = true
    /// The marks of this frame begin here.
    var firstMark: Int

    // Where the current instruction is.
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

/// What an instruction came to.
enum EvaluationOutcome {
    case valid
    case invalid
    /// A frame was pushed; the instruction goes on when it is done.
    case waits

    @inline(__always) init(_ isValid: Bool) { self = isValid ? .valid : .invalid }
}
