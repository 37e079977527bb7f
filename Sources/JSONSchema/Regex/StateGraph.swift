/// A regular expression as a nondeterministic automaton.
struct StateGraph {
    enum State {
        /// A state that waits for one of these bytes.
        case bytes(ClosedRange<UInt8>, next: Int32)
        case split(Int32, Int32)
        case start(next: Int32)
        case end(next: Int32)
        case match
    }

    private(set) var states: [State] = [.match]
    private(set) var first: Int32 = 0
    private var work: Int

    static let statesMax = 4096

    /// Builds the graph, and subtracts the steps from `work`. Returns nil if the graph is too large or needs more
    /// steps.
    init?(_ expression: RegularExpression, work: inout Int) {
        self.work = work
        first = add(expression, before: 0)
        work = self.work
        guard !isTooLarge else { return nil }
    }

    private var isTooLarge: Bool { work < 0 || states.count > Self.statesMax }

    private mutating func add(_ state: State) -> Int32 {
        states.append(state)
        return Int32(states.count - 1)
    }

    /// Adds the states of an expression before `next`, from the end of the expression to its beginning. Returns the
    /// first of these states.
    private mutating func add(_ expression: RegularExpression, before next: Int32) -> Int32 {
        work -= 1
        guard !isTooLarge else { return 0 }
        switch expression {
        case .set(let set): return add(set, before: next)
        case .start: return add(.start(next: next))
        case .end: return add(.end(next: next))
        case .sequence(let parts): return parts.reversed().reduce(next) { add($1, before: $0) }
        case .alternatives(let parts):
            let all = parts.map { add($0, before: next) }
            return all.dropLast().reversed().reduce(all[all.count - 1]) { add(.split($1, $0)) }
        case .repeated(let part, let least, let most): return add(part, least, most, before: next)
        }
    }

    private mutating func add(_ part: RegularExpression, _ least: Int, _ most: Int?, before next: Int32) -> Int32 {
        var first = next
        if let most {
            for _ in least..<most where !isTooLarge { first = add(.split(add(part, before: first), next)) }
        } else {
            let again = add(.match)
            let begin = add(part, before: again)
            states[Int(again)] = .split(begin, next)
            // If at least one repetition is required, the loop begins with its body.
            first = least == 0 ? again : begin
        }
        for _ in 0..<(most == nil ? max(least - 1, 0) : least) where !isTooLarge { first = add(part, before: first) }
        return first
    }

    private mutating func add(_ set: ScalarSet, before next: Int32) -> Int32 {
        var firsts: [Int32] = []
        /// The added states by following state. States for the same bytes before the same state are shared.
        var known: [Int32: [(ClosedRange<UInt8>, Int32)]] = [:]
        for sequence in set.sequences {
            guard !isTooLarge else { return next }
            var state = next
            for bytes in sequence.reversed() {
                let after = state
                if let same = known[after]?.first(where: { $0.0 == bytes }) {
                    state = same.1
                } else {
                    state = add(.bytes(bytes, next: after))
                    known[after, default: []].append((bytes, state))
                }
            }
            firsts.append(state)
            work -= sequence.count
        }
        // A set without characters matches nothing, so wait for a byte that UTF-8 never contains.
        guard var first = firsts.popLast() else { return add(.bytes(0xFF...0xFF, next: next)) }
        while let other = firsts.popLast() { first = add(.split(other, first)) }
        return first
    }
}
