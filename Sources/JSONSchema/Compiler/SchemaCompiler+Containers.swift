import JSON

// The keywords that go down into objects and arrays: those that depend on each other become one instruction.
extension SchemaCompiler {
    /// Names that one rule can require, a bit each; beyond that a further rule goes through the members again.
    private static let requiredMax = 64

    mutating func compileObject(_ schema: JSONValue) throws(SchemaError) {
        let required = try schema["required"].map { value throws(SchemaError) in try names(value) } ?? []
        let keywords = ["properties", "patternProperties", "additionalProperties", "propertyNames"]
        guard !required.isEmpty || keywords.contains(where: { schema[key: $0] != nil }) else { return }

        var slots = NameSlots()
        for name in required.prefix(Self.requiredMax) { _ = slots.slot(of: name) }
        var rule = ObjectRule(
            names: KeyTable(first: 0, mask: 0, lengths: 0), firstProperty: properties.count,
            required: Self.bits(slots.strings.count), firstPattern: patternProperties.count, patternCount: 0,
            additional: anything, forbidsAdditional: false, propertyNames: anything,
            requiredLocation: location("required", at: schema["required"]?.index ?? schema.index),
            additionalLocation: location(
                "additionalProperties", at: schema["additionalProperties"]?.index ?? schema.index))

        var found: [Property] = slots.strings.map { _ in Property(schema: anything, isDeclared: false) }
        if let declared = schema["properties"] {
            guard declared.kind == .object else { throw malformed(declared, "properties must be an object of schemas") }
            for (key, value) in declared.members {
                let property = Property(schema: try subschema(value, keyword: "properties"), isDeclared: true)
                let slot = slots.slot(of: key)
                if slot < found.count { found[slot] = property } else { found.append(property) }
            }
        }
        rule.names = keyTable(slots.strings)
        properties += found

        if let patterned = schema["patternProperties"] {
            guard patterned.kind == .object else {
                throw malformed(patterned, "patternProperties must be an object of schemas")
            }
            for (key, value) in patterned.members {
                let pattern = try pattern(key)
                let schema = try subschema(value, keyword: "patternProperties")
                patternProperties.append(PatternProperty(pattern: pattern, schema: schema))
            }
            rule.patternCount = patterned.count
        }
        if let additional = schema["additionalProperties"] {
            rule.forbidsAdditional = additional.bool == false
            let index = try subschema(additional, keyword: "additionalProperties")
            if !rule.forbidsAdditional { rule.additional = index }
        }
        if let names = schema["propertyNames"] {
            rule.propertyNames = try subschema(names, keyword: "propertyNames")
        }
        objects.append(rule)
        emit(.object(objects.count - 1), "properties", at: schema["properties"]?.index ?? schema.index)

        for start in stride(from: Self.requiredMax, to: required.count, by: Self.requiredMax) {
            compileRequired(required[start..<min(start + Self.requiredMax, required.count)], of: schema)
        }
    }

    /// Required names alone.
    private mutating func compileRequired(_ names: ArraySlice<JSONValue>, of schema: JSONValue) {
        var slots = NameSlots()
        for name in names { _ = slots.slot(of: name) }
        let location = location("required", at: schema["required"]?.index ?? schema.index)
        let rule = ObjectRule(
            names: keyTable(slots.strings), firstProperty: properties.count, required: Self.bits(slots.strings.count),
            firstPattern: 0, patternCount: 0, additional: anything, forbidsAdditional: false, propertyNames: anything,
            requiredLocation: location, additionalLocation: location)
        properties += slots.strings.map { _ in Property(schema: anything, isDeclared: false) }
        objects.append(rule)
        emit(.object(objects.count - 1), "required", at: schema.index)
    }

    mutating func compileArray(_ schema: JSONValue) throws(SchemaError) {
        guard schema["items"] != nil || schema["prefixItems"] != nil else { return }
        var rule = ArrayRule(prefix: SchemaList(first: 0, count: 0), items: anything)
        if let prefix = schema["prefixItems"] { rule.prefix = try schemaList(prefix, "prefixItems") }
        if let items = schema["items"] { rule.items = try subschema(items, keyword: "items") }
        arrays.append(rule)
        emit(.array(arrays.count - 1), "items", at: schema.index)
    }

    mutating func compileDependentRequired(_ value: JSONValue) throws(SchemaError) {
        guard value.kind == .object else { throw malformed(value, "dependentRequired must be an object of arrays") }
        var slots = NameSlots()
        var needs: [Int: UInt64] = [:]
        for (key, list) in value.members {
            let slot = slots.slot(of: key)
            for name in try names(list) { needs[slot, default: 0] |= 1 << UInt64(slots.slot(of: name)) }
        }
        guard slots.strings.count <= UInt64.bitWidth else {
            throw SchemaError(
                code: .unsupported, pointer: value.pointer, message: "dependentRequired may have 64 different names")
        }
        dependentRules.append(DependentRule(names: keyTable(slots.strings), first: dependents.count))
        dependents += slots.strings.map { needs[$0.slot] ?? 0 }
        emit(.dependentRequired(dependentRules.count - 1), "dependentRequired", at: value.index)
    }

    private func names(_ value: JSONValue) throws(SchemaError) -> [JSONValue] {
        guard value.kind == .array, value.elements.allSatisfy({ $0.kind == .string }) else {
            throw malformed(value, "must be an array of strings")
        }
        return Array(value.elements)
    }

    private static func bits(_ count: Int) -> UInt64 { count >= 64 ? ~0 : 1 << UInt64(count) - 1 }
}

/// Numbers different names from 0 on.
private struct NameSlots {
    private(set) var strings: [(node: Int, slot: Int)] = []
    private var slots: [String: Int] = [:]

    mutating func slot(of name: JSONValue) -> Int {
        let text = name.string ?? ""
        if let slot = slots[text] { return slot }
        slots[text] = strings.count
        strings.append((name.index, strings.count))
        return strings.count - 1
    }
}
