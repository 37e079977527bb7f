import JSON

/// What stands behind a violation. Looked for only when a value is known to be invalid, with limits of its own.
extension SchemaValidator {
    /// What the search may cost for each violation: tens of microseconds.
    private struct ReasonBudget {
        /// As ``stepsBase`` counts them.
        var steps = 5000
        /// Values and keys, and bytes, that are checked once more.
        var nodes = 1000
        var bytes = 32 << 10

        /// Alternatives inside of alternatives, and of one `anyOf` or `oneOf` those that are tried.
        static let levelsMax = 8
        static let alternativesMax = 8
        /// Violations of one of several alternatives: its tag should be among them.
        static let violationsMax = 8
        /// Alternatives that are all told.
        static let choicesMax = 3
    }

    // Where the frame of a condition is, once that is decided.
    static var stepThen: Int { 1 }
    static var stepElse: Int { 2 }
    private static var conditionFramesMax: Int { 64 }
    private static var conditionsMax: Int { 4 }

    /// The conditions that led to what is being checked, the nearest first.
    var conditions: [FoundViolations.Condition] {
        var conditions: [FoundViolations.Condition] = []
        for below in 1..<1 + min(depth, Self.conditionFramesMax) where conditions.count < Self.conditionsMax {
            let frame = frames[depth - below]
            guard frame.step != 0, case .conditional = code[frame.instruction] else { continue }
            conditions.append(
                FoundViolations.Condition(
                    instruction: frame.instruction, node: frame.node, holds: frame.step == Self.stepThen))
        }
        return conditions
    }

    /// The violations; where no alternative of `anyOf` or `oneOf` holds and one of them alone was meant, what is wrong
    /// by that one.
    func withReasons(_ violations: [FoundViolations.Violation]) -> [FoundViolations.Violation] {
        // What a dynamic reference leads to, a part of the schema alone does not know.
        guard scope.nameCount == 0 else { return violations }
        let max = found.max
        var told: [FoundViolations.Violation] = []
        for violation in violations where told.count < max {
            var budget = ReasonBudget()
            told += reasons(for: violation, level: 0, max: max - told.count, &budget)
        }
        return told
    }

    private func reasons(
        for violation: FoundViolations.Violation, level: Int, max: Int, _ budget: inout ReasonBudget
    ) -> [FoundViolations.Violation] {
        guard level < ReasonBudget.levelsMax, let list = alternatives(violation) else { return [violation] }
        var violation = violation
        switch reason(of: list, violation.node, max: max, &budget) {
        case .none: break
        case .holds: violation.holdsTooOften = true
        case .choices(let choices): violation.choices = choices
        case .meant(let wrong):
            var told: [FoundViolations.Violation] = []
            for var inner in wrong where told.count < max {
                inner.conditions += violation.conditions
                told += reasons(for: inner, level: level + 1, max: max - told.count, &budget)
            }
            return told
        }
        return [violation]
    }

    /// Why no alternative holds, or not one alone.
    private enum Reason {
        case none
        /// One of them does.
        case holds
        /// What is wrong by the one that is meant.
        case meant([FoundViolations.Violation])
        case choices([FoundViolations.Violation])
    }

    private func alternatives(_ violation: FoundViolations.Violation) -> SchemaList? {
        guard violation.kind == .keyword else { return nil }
        switch code[violation.instruction] {
        case .anyOf(let list), .oneOf(let list): return list
        default: return nil
        }
    }

    /// The alternative that is meant is the one for the value's type or, of several, for its tag.
    private func reason(
        of list: SchemaList, _ node: Int, max: Int, _ budget: inout ReasonBudget
    ) -> Reason {
        let type = TypeSet(tape.nodes[node].kind)
        var types = AcceptedTypes(schema)
        let fitting = (list.first..<list.first + list.count).map { lists[$0] }
            .filter { !types.of($0).isDisjoint(with: type) }
        // Constants are told in a row.
        let areConstants = (list.first..<list.first + list.count).allSatisfy { isConstant(lists[$0]) }
        guard !areConstants, fitting.count <= ReasonBudget.alternativesMax else { return .none }
        /// Those that may be meant, and keys by which the others are known not to be.
        var possible: [(alternative: Int, wrong: [FoundViolations.Violation])] = []
        var tags: [Int] = []
        for alternative in fitting {
            let max = fitting.count == 1 ? max : Swift.max(max, ReasonBudget.violationsMax)
            guard let wrong = whatIsWrong(by: alternative, node, max: max, &budget) else { return .none }
            guard !wrong.isEmpty else { return .holds }
            if fitting.count > 1, let tag = wrong.lazy.compactMap({ self.wrongTag($0, of: node) }).first {
                tags.append(tag)
            } else {
                possible.append((alternative, wrong))
            }
        }
        if possible.count == 1, tags.allSatisfy({ isTagged(possible[0].alternative, $0, &budget) }) {
            return .meant(possible[0].wrong)
        }
        let isAboutTheValue =
            possible.count == fitting.count && possible.allSatisfy { $0.wrong.allSatisfy { $0.node == node } }
        return isAboutTheValue && fitting.count <= ReasonBudget.choicesMax
            ? .choices(possible.map { $0.wrong[0] }) : .none
    }

    /// Empty when nothing is; nil when that takes too much to say.
    private func whatIsWrong(
        by alternative: Int, _ node: Int, max: Int, _ budget: inout ReasonBudget
    ) -> [FoundViolations.Violation]? {
        budget.nodes -= tape.next(after: node) - node
        budget.bytes -= tape.source(of: node).count
        guard alternative != anything, budget.nodes >= 0, budget.bytes >= 0 else { return nil }
        found = FoundViolations(max: max)
        hasEnough = false
        stepsLeft = budget.steps
        let isValid = run(alternative, node)
        budget.steps = stepsLeft
        let isTold = found.list.allSatisfy { ![.stepsMax, .patternGaveUp, .circle].contains($0.kind) }
        return isTold && isValid == found.list.isEmpty ? found.list : nil
    }

    /// The key of a member that is to have another constant than it has.
    private func wrongTag(_ violation: FoundViolations.Violation, of object: Int) -> Int? {
        guard violation.kind == .keyword, tape.nodes[object].kind == .object else { return nil }
        switch code[violation.instruction] {
        case .constant, .enumeration: break
        default: return nil
        }
        var key = object + 1
        while key < min(violation.node, Int(tape.nodes[object].link)) {
            if key + 1 == violation.node { return key }
            key = tape.next(after: key + 1)
        }
        return nil
    }

    /// Whether a schema names constants for the member with this key.
    private func isTagged(_ schema: Int, _ key: Int, _ budget: inout ReasonBudget) -> Bool {
        guard schema != anything, budget.steps > 0 else { return false }
        budget.steps -= 1
        var instruction = Int(subschemas[schema].first)
        while true {
            switch code[instruction] {
            case .end: return false
            case .call(let target): if isTagged(target, key, &budget) { return true }
            case .object(let rule):
                let slot = find(key, in: objects[rule].names)
                if slot >= 0, isConstant(properties[objects[rule].firstProperty + slot].schema) { return true }
            default: break
            }
            instruction += 1
        }
    }

    private func isConstant(_ schema: Int) -> Bool {
        guard schema != anything else { return false }
        var instruction = Int(subschemas[schema].first)
        while true {
            switch code[instruction] {
            case .end: return false
            case .constant, .enumeration: return true
            default: instruction += 1
            }
        }
    }
}
