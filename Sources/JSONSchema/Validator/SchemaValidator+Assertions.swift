import JSON

extension SchemaValidator {
    /// An instruction about the value itself.
    func checkAssertion(_ instruction: Int, _ node: Int, isSpeculative: Bool) -> Outcome {
        let value = tape.nodes[node]
        let isValid: Bool
        switch code[instruction] {
        case .type(let types):
            isValid = matches(types, value, node)
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
            isValid = value.kind != .number || tape.number(at: node).isMultiple(of: own.number(at: divisor))
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
        case .never:
            isValid = false
        case .end, .object, .array, .dependentRequired, .call, .anyOf, .oneOf, .not, .conditional:
            isValid = true
        }
        return isValid ? .valid : fail(node, instruction: instruction, isSpeculative: isSpeculative)
    }

    private func matches(_ types: TypeSet, _ value: JSONNode, _ node: Int) -> Bool {
        if types.rawValue >> value.kind.rawValue & 1 == 1 { return true }
        guard types.contains(.integer), value.kind == .number else { return false }
        return value.count == 1 || tape.number(at: node).isInteger
    }

    /// Below, at or above zero as the number at `node` is below, at or above the bound.
    private func compare(_ node: Int, _ bound: NumberBound) -> Int {
        if let small = bound.small, let value = plainInteger(node) {
            return value < small ? -1 : value > small ? 1 : 0
        }
        let value = tape.number(at: node)
        let limit = own.number(at: bound.node)
        return value < limit ? -1 : value == limit ? 0 : 1
    }

    /// The quick way for a number of up to 18 digits without a fraction or exponent.
    private func plainInteger(_ node: Int) -> Int64? {
        let digits = tape.source(of: node)
        guard tape.nodes[node].count == 1, digits.count <= 18 else { return nil }
        var value: Int64 = 0
        for byte in digits where byte != UInt8(ascii: "-") {
            value = value &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
        }
        return digits[0] == UInt8(ascii: "-") ? -value : value
    }

    /// A character is a Unicode scalar; they are counted only where the bytes leave it open.
    private func hasCharacters(_ node: Int, atLeast limit: Int) -> Bool {
        let text = tape.text(of: node)
        guard text.count >= limit else { return false }
        guard text.count / 4 < limit else { return true }
        return text.reduce(0) { $0 + ($1 & 0xC0 != 0x80 ? 1 : 0) } >= limit
    }

    private func isOneOf(_ enumeration: Enumeration, _ node: Int) -> Bool {
        if tape.nodes[node].kind == .string { return find(node, in: enumeration.strings) >= 0 }
        for index in enumeration.first..<enumeration.first + enumeration.count
        where isEqual(node, enumerated[index]) { return true }
        return false
    }

    /// Whether a value equals one of the schema: numbers by value, objects in any order. It goes as deep as the
    /// schema's value does, whatever the message.
    private func isEqual(_ node: Int, _ ownNode: Int) -> Bool {
        let value = tape.nodes[node]
        let expected = own.nodes[ownNode]
        guard value.kind == expected.kind else { return false }
        switch value.kind {
        case .null:
            return true
        case .boolean:
            return value.count == expected.count
        case .number:
            return tape.number(at: node) == own.number(at: ownNode)
        case .string:
            return value.count == expected.count && tape.text(of: node).elementsEqual(own.text(of: ownNode))
        case .array:
            guard value.count == expected.count else { return false }
            var element = node + 1
            var ownElement = ownNode + 1
            while element < Int(value.link) {
                guard isEqual(element, ownElement) else { return false }
                element = tape.next(after: element)
                ownElement = own.next(after: ownElement)
            }
            return true
        case .object:
            guard value.count == expected.count else { return false }
            var key = node + 1
            while key < Int(value.link) {
                guard let ownValue = ownMember(of: ownNode, named: key), isEqual(key + 1, ownValue) else {
                    return false
                }
                key = tape.next(after: key + 1)
            }
            return true
        }
    }

    private func ownMember(of object: Int, named key: Int) -> Int? {
        let name = tape.text(of: key)
        var ownKey = object + 1
        while ownKey < Int(own.nodes[object].link) {
            if own.text(of: ownKey).elementsEqual(name) { return ownKey + 1 }
            ownKey = own.next(after: ownKey + 1)
        }
        return nil
    }
}
