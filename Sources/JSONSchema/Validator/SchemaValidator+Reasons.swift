import JSON

/// The explanation of violations. It runs only for invalid values, with its own limits.
extension SchemaValidator {
    /// The limits of the search for the reason for one violation. They bound the search to tens of microseconds.
    private struct ReasonBudget {
        /// Steps, in the unit of ``stepsBase``.
        var steps = 5000
        /// Nodes that may be checked again.
        var nodes = 1000
        /// Bytes that may be checked again.
        var bytes = 32 << 10

        /// Maximum nesting of alternatives.
        static let levelsMax = 8
        /// Maximum number of alternatives of one `anyOf` or `oneOf` that accept the value's type.
        static let alternativesMax = 8
        /// Number of violations that may be collected for one of several alternatives even if the caller requests
        /// fewer. The violation of the alternative's tag should be among the collected violations.
        static let violationsMax = 8
        /// Maximum number of alternatives that are described together.
        static let choicesMax = 3
    }

    // The values of `step` in the frame of a conditional after the decision for `then` or `else`.
    static var stepThen: Int { 1 }
    static var stepElse: Int { 2 }
    private static var conditionFramesMax: Int { 64 }
    private static var conditionsMax: Int { 4 }

    /// The conditions that led to the current check, innermost first, at most `conditionsMax`.
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

    /// Returns the violations. If no alternative of `anyOf` or `oneOf` holds and only one can be meant, replaces the
    /// original violation. The violations of that alternative take its place. Otherwise, sets `choices` or
    /// `holdsTooOften` where possible.
    func withReasons(_ violations: [FoundViolations.Violation]) -> [FoundViolations.Violation] {
        // The alternatives are checked again without the dynamic scope, so dynamic references could have other targets.
        guard scope.nameCount == 0 else { return violations }
        let max = found.max
        var result: [FoundViolations.Violation] = []
        for violation in violations where result.count < max {
            var budget = ReasonBudget()
            result += reasons(for: violation, level: 0, max: max - result.count, &budget)
        }
        return result
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
            var result: [FoundViolations.Violation] = []
            for var inner in wrong where result.count < max {
                inner.conditions += violation.conditions
                result += reasons(for: inner, level: level + 1, max: max - result.count, &budget)
            }
            return result
        }
        return [violation]
    }

    /// The reason why no alternative holds, or why more than one holds.
    private enum Reason {
        case none
        /// A value for which at least one alternative holds.
        case holds
        /// The violations of the alternative that is meant.
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

    /// Explains why the alternatives fail. If possible, reports the violations of the alternative that the author of
    /// the value probably meant. This is the only alternative for the value's type, or the only alternative for the
    /// value's tag.
    private func reason(
        of list: SchemaList, _ node: Int, max: Int, _ budget: inout ReasonBudget
    ) -> Reason {
        let type = TypeSet(tape.nodes[node].kind)
        var types = AcceptedTypes(schema)
        let fitting = (list.first..<list.first + list.count).map { lists[$0] }
            .filter { !types.of($0).isDisjoint(with: type) }
        // Alternatives that are constants need no explanation.
        let areConstants = (list.first..<list.first + list.count).allSatisfy { isConstant(lists[$0]) }
        guard !areConstants, fitting.count <= ReasonBudget.alternativesMax else { return .none }
        /// The alternatives that no tag excludes, with their violations.
        var possible: [(alternative: Int, wrong: [FoundViolations.Violation])] = []
        /// The keys of the tags that exclude the other alternatives.
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

    /// Returns the violations of an alternative; nil if the alternative accepts any value, a limit was exceeded, or the
    /// check gave up.
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

    /// Returns the key of the member whose value differs from a required constant; nil for another violation.
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

    /// Returns whether a schema defines constants for the member with this key.
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
