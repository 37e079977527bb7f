/// A regular expression of a schema. Release the memory with `free()`.
struct Pattern: BitwiseCopyable {
    let matching: Matching

    enum Matching: BitwiseCopyable {
        /// A sequence of classes, matched in one pass over the text.
        case sequence(UnsafeBufferPointer<ClassSequence.Item>)
        case automaton(Automaton)
        /// An expression of PCRE2, matched with backtracking.
        case pcre2(BacktrackingPattern)
    }

    enum Match {
        case yes
        case no
        /// A match that exceeded the effort limit, or failed with an error of PCRE2.
        case gaveUp
    }

    /// Compiles an expression. Chooses the matcher with the least effort that supports the expression.
    ///
    /// - Parameters:
    ///   - expression: a regular expression of ECMA-262.
    ///   - work: the remaining steps to build the automata of the schema's expressions.
    init(_ expression: UnsafeRawBufferPointer, work: inout Int) throws(PatternError) {
        let translated = try ECMAExpression(expression)
        if let items = ClassSequence.items(expression) {
            let memory = UnsafeMutableBufferPointer<ClassSequence.Item>.allocate(capacity: items.count)
            _ = memory.initialize(from: items)
            matching = .sequence(UnsafeBufferPointer(memory))
        } else if let tokens = translated.tokens, let automaton = Automaton(RegularExpression(tokens), work: &work) {
            matching = .automaton(automaton)
        } else {
            matching = .pcre2(try BacktrackingPattern(translated))
        }
    }

    func free() {
        switch matching {
        case .sequence(let items): items.deallocate()
        case .automaton(let automaton): automaton.free()
        case .pcre2(let pattern): pattern.free()
        }
    }
}

struct PatternError: Error {
    var message: String
    /// The byte offset in the expression; nil for errors of PCRE2, which reads a translation.
    var offset: Int?
}
