import JSON

/// The fast path, which decides only whether a value is valid, by recursion and without frames. Nearly all values are
/// valid and need less time on this path. The loop over frames checks the remaining values again.
extension SchemaValidator {
    /// Maximum depth of nested schemas. The loop checks deeper values.
    private static let plainDepthMax = 64
    /// The divisor of the steps and effort on this path. A hostile value therefore gains little from two checks.
    static let plainShare = 10

    @inline(__always) func holds(_ schema: Int, _ node: Int, depth: Int) -> Bool {
        schema == anything || holdsAll(schema, node, depth)
    }

    private func holdsAll(_ schema: Int, _ node: Int, _ depth: Int) -> Bool {
        stepsLeft -= 1
        guard stepsLeft > 0, depth < Self.plainDepthMax else {
            stepsLeft = 0
            return false
        }
        var instruction = Int(subschemas[schema].first)
        while true {
            let isValid: Bool
            switch code[instruction] {
            case .end:
                return true
            case .type(let types):
                isValid = matches(types, node)
            case .object(let rule):
                isValid = tape.nodes[node].kind != .object || membersHold(objects + rule, node, depth + 1)
            case .array(let rule):
                isValid = tape.nodes[node].kind != .array || elementsHold(arrays + rule, node, depth + 1)
            case .call(let schema):
                isValid = holds(schema, node, depth: depth + 1)
            case .anyOf(let list):
                isValid = countHolding(list, node, depth + 1, max: 1) == 1
            case .oneOf(let list):
                isValid = countHolding(list, node, depth + 1, max: 2) == 1
            case .not(let schema):
                isValid = !holds(schema, node, depth: depth + 1)
            case .conditional(let conditional):
                let isMet = holds(conditional.condition, node, depth: depth + 1)
                isValid = holds(isMet ? conditional.then : conditional.otherwise, node, depth: depth + 1)
            case .dependentRequired(let rule):
                isValid = tape.nodes[node].kind != .object || dependentsHold(dependentRules[rule], node)
            case .contains, .dependentSchemas, .dynamicCall, .unevaluatedProperties, .unevaluatedItems:
                // Plain schemas have no such instructions.
                return false
            case .never, .constant, .enumeration, .minimum, .exclusiveMinimum, .maximum, .exclusiveMaximum, .multipleOf,
                .minLength, .maxLength, .minItems, .maxItems, .minProperties, .maxProperties, .pattern, .format,
                .uniqueItems:
                isValid = checkAssertion(instruction, node, isSpeculative: true) == .valid
            }
            guard isValid else { return false }
            instruction += 1
        }
    }

    private func membersHold(_ rule: UnsafePointer<ObjectRule>, _ node: Int, _ depth: Int) -> Bool {
        stepsLeft -= Int(tape.nodes[node].count)
        let isOpen = rule.pointee.isOpen
        let end = Int(tape.nodes[node].link)
        var named = 0
        var required = 0
        var key = node + 1
        while key < end {
            let slot = find(key, in: rule.pointee.names)
            var isDeclared = false
            if slot >= 0 {
                named += 1
                if slot < rule.pointee.requiredCount { required += 1 }
                let property = properties[rule.pointee.firstProperty + slot]
                isDeclared = property.isDeclared
                guard holds(property.schema, key + 1, depth: depth) else { return false }
            }
            if isOpen {
                // Keys are unique in an object, so the remaining members have no schema.
                if named == rule.pointee.nameCount { return true }
            } else if !isDeclared {
                guard !rule.pointee.forbidsAdditional, holds(rule.pointee.additional, key + 1, depth: depth) else {
                    return false
                }
            }
            key = tape.next(after: key + 1)
        }
        return required == rule.pointee.requiredCount
    }

    private func elementsHold(_ rule: UnsafePointer<ArrayRule>, _ node: Int, _ depth: Int) -> Bool {
        let prefix = rule.pointee.prefix
        let end = Int(tape.nodes[node].link)
        var position = 0
        var element = node + 1
        while element < end, position < prefix.count || rule.pointee.items != anything {
            let schema = position < prefix.count ? lists[prefix.first + position] : rule.pointee.items
            guard holds(schema, element, depth: depth) else { return false }
            position += 1
            element = tape.next(after: element)
        }
        return true
    }

    /// Returns the number of schemas that hold, counted up to `max`.
    private func countHolding(_ list: SchemaList, _ node: Int, _ depth: Int, max: Int) -> Int {
        var count = 0
        for position in list.first..<list.first + list.count where holds(lists[position], node, depth: depth) {
            count += 1
            if count == max { break }
        }
        return count
    }

    private func dependentsHold(_ rule: DependentRule, _ node: Int) -> Bool {
        guard markPresent(rule.names, in: node, dependents: rule.count) else { return true }
        stepsLeft -= rule.count
        return (0..<rule.count).allSatisfy { slot in
            guard present.contains(slot) else { return true }
            let needed = needs[rule.first + slot]
            stepsLeft -= needed.count
            return (needed.first..<needed.first + needed.count).allSatisfy { present.contains(lists[$0]) }
        }
    }
}
