import JSON

extension SchemaValidator {
    private static let bytesPerStep = 16
    private static let digitsPerStep = 8
    /// Number of characters of a number that `stepsPerNumber` covers.
    private static let shortDigits = 16
    private static let stepsPerNumber = 3

    /// Checks an instruction about the value itself.
    func checkAssertion(_ instruction: Int, _ node: Int, isSpeculative: Bool) -> EvaluationOutcome {
        let value = tape.nodes[node]
        let isValid: Bool
        switch code[instruction] {
        case .type(let types):
            isValid = matches(types, node)
        case .constant(let expected):
            isValid = isEqual(node, expected)
        case .enumeration(let index):
            isValid = isOneOf(enumerations[index], node)
        case .minimum(let bound):
            isValid = value.kind != .number || compare(node, bound) >= 0
        case .exclusiveMinimum(let bound):
            isValid = value.kind != .number || compare(node, bound) > 0
        case .maximum(let bound):
            isValid = value.kind != .number || compare(node, bound) <= 0
        case .exclusiveMaximum(let bound):
            isValid = value.kind != .number || compare(node, bound) < 0
        case .multipleOf(let divisor):
            isValid = value.kind != .number || valueNumber(at: node).isMultiple(of: number(divisor))
        case .minLength(let limit):
            isValid = value.kind != .string || hasCharacters(node, atLeast: limit)
        case .maxLength(let limit):
            isValid = value.kind != .string || limit == .max || !hasCharacters(node, atLeast: limit + 1)
        case .minItems(let limit):
            isValid = value.kind != .array || Int(value.count) >= limit
        case .maxItems(let limit):
            isValid = value.kind != .array || Int(value.count) <= limit
        case .minProperties(let limit):
            isValid = value.kind != .object || Int(value.count) >= limit
        case .maxProperties(let limit):
            isValid = value.kind != .object || Int(value.count) <= limit
        case .pattern(let pattern):
            guard value.kind == .string else { return .valid }
            switch matcher.match(patterns[pattern], tape.text(of: node)) {
            case .yes: isValid = true
            case .no: isValid = false
            case .gaveUp: return fail(node, instruction: instruction, kind: .patternGaveUp, isSpeculative: false)
            }
        case .format(.regex):
            guard value.kind == .string else { return .valid }
            switch matcher.isExpression(tape.text(of: node)) {
            case .yes: isValid = true
            case .no: isValid = false
            case .gaveUp: return fail(node, instruction: instruction, kind: .patternGaveUp, isSpeculative: false)
            }
        case .format(let format):
            guard value.kind == .string else { return .valid }
            stepsLeft -= Int(value.count) / Self.bytesPerStep
            isValid = format.matches(tape.text(of: node))
        case .uniqueItems:
            guard value.kind == .array else { return .valid }
            stepsLeft -= Int(value.link) - node
            guard stepsLeft > 0 else { return failForSteps(node, instruction: instruction) }
            isValid = unique.areUnique(in: node, of: tape, nodeCount: nodeCount)
        case .never:
            isValid = false
        case .end, .object, .array, .contains, .dependentRequired, .dependentSchemas, .call, .dynamicCall, .anyOf,
            .oneOf, .not, .conditional, .unevaluatedProperties, .unevaluatedItems:
            isValid = true
        }
        return isValid ? .valid : fail(node, instruction: instruction, isSpeculative: isSpeculative)
    }

    @inline(__always) func matches(_ types: TypeSet, _ node: Int) -> Bool {
        types.rawValue &>> tape.nodes[node].kind.rawValue & 1 == 1 || types.contains(.integer) && isInteger(node)
    }

    private func isInteger(_ node: Int) -> Bool {
        let value = tape.nodes[node]
        return value.kind == .number && (value.count == 1 || valueNumber(at: node).isInteger)
    }

    /// Returns a negative number, 0 or a positive number if the number at `node` is below, equal to or above the bound.
    private func compare(_ node: Int, _ bound: NumberBound) -> Int { compare(node, tape.plainInteger(at: node), bound) }

    private func compare(_ node: Int, _ plain: Int64?, _ bound: NumberBound) -> Int {
        if let value = plain, let small = bound.small {
            return value < small ? -1 : value > small ? 1 : 0
        }
        let value = valueNumber(at: node)
        let limit = number(bound.place)
        return value < limit ? -1 : value == limit ? 0 : 1
    }

    /// Returns the number at a node, and subtracts the steps to process its digits.
    private func valueNumber(at node: Int) -> JSONNumber {
        stepsLeft -= Self.stepsPerNumber + max(0, tape.source(of: node).count - Self.shortDigits) / Self.digitsPerStep
        return tape.number(at: node)
    }

    /// Returns whether a string has at least `limit` Unicode scalars. Counts them only if the number of bytes does not
    /// decide.
    private func hasCharacters(_ node: Int, atLeast limit: Int) -> Bool {
        let text = tape.text(of: node)
        guard text.count >= limit else { return false }
        guard text.count / 4 < limit else { return true }
        stepsLeft -= text.count / Self.bytesPerStep
        return text.reduce(0) { $0 + ($1 & 0xC0 != 0x80 ? 1 : 0) } >= limit
    }

    private func isOneOf(_ enumeration: Enumeration, _ node: Int) -> Bool {
        switch tape.nodes[node].kind {
        case .string: return find(node, in: enumeration.strings) >= 0
        case .number: return isOneOfNumbers(enumeration, node)
        case .null, .boolean, .array, .object: break
        }
        let others = enumeration.firstOther..<enumeration.firstOther + enumeration.otherCount
        return others.contains { isEqual(node, enumerated[$0]) }
    }

    private func isOneOfNumbers(_ enumeration: Enumeration, _ node: Int) -> Bool {
        var low = enumeration.firstNumber
        var high = low + enumeration.numberCount
        let plain = tape.plainInteger(at: node)
        while low < high {
            let middle = (low + high) / 2
            let order = compare(node, plain, enumeratedNumbers[middle])
            if order == 0 { return true }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return false
    }

    private func isEqual(_ node: Int, _ expected: SchemaNode) -> Bool {
        let schema = own[Int(expected.document)]
        let place = Int(expected.node)
        stepsLeft -= 2 * min(tape.next(after: node) - node, schema.next(after: place) - place)
        if tape.nodes[node].kind == .number { stepsLeft -= tape.source(of: node).count / Self.digitsPerStep }
        return comparison.isEqual(node, of: tape, place, of: schema)
    }

    private func number(_ place: SchemaNode) -> JSONNumber {
        own[Int(place.document)].number(at: Int(place.node))
    }
}
