import JSON

/// `dependentRequired` and `dependentSchemas`; `dependencies`, which is both.
extension SchemaCompiler {
    /// A rule has a bit for each name; names beyond that get further rules.
    mutating func compileDependentRequired(
        _ value: JSONValue, _ keyword: String, _ schema: SchemaObject
    ) throws(SchemaError) {
        try checkIsObject(value, keyword, schema)
        var group = DependencyGroup(schema)
        for (key, list) in value.members {
            guard keyword == "dependentRequired" || list.kind == .array else { continue }
            let needed = try names(list, schema)
            for start in stride(from: 0, to: needed.count, by: Self.requiredMax - 1) {
                let part = needed[start..<min(start + Self.requiredMax - 1, needed.count)]
                if group.names.strings.count + part.count + 1 > Self.requiredMax {
                    emit(group, keyword, at: schema.place(value))
                    group = DependencyGroup(schema)
                }
                group.add(key, needs: part)
            }
        }
        emit(group, keyword, at: schema.place(value))
    }

    private mutating func emit(_ group: DependencyGroup, _ keyword: String, at place: SchemaNode) {
        guard !group.names.strings.isEmpty else { return }
        dependentRules.append(DependentRule(names: keyTable(group.names.strings), first: dependents.count))
        dependents += group.names.strings.map { group.needs[$0.slot] ?? 0 }
        emit(.dependentRequired(dependentRules.count - 1), keyword, at: place)
    }

    mutating func compileDependentSchemas(
        _ value: JSONValue, _ keyword: String, _ schema: SchemaObject
    ) throws(SchemaError) {
        try checkIsObject(value, keyword, schema)
        var slots = NameSlots(schema)
        var targets: [Int] = []
        for (key, dependent) in value.members {
            guard keyword == "dependentSchemas" || dependent.kind != .array else { continue }
            let target = try subschema(dependent, in: schema, keyword: keyword)
            guard target != anything else { continue }
            _ = slots.slot(of: key)
            targets.append(target)
        }
        guard !targets.isEmpty else { return }
        dependentRules.append(DependentRule(names: keyTable(slots.strings), first: lists.count))
        lists += targets
        inPlace[schema.index] += targets
        emit(.dependentSchemas(dependentRules.count - 1), keyword, at: schema.place(value))
    }
}

/// Names of which some need others, as many as a rule can hold.
private struct DependencyGroup {
    var names: NameSlots
    /// For the slot of a name bits of the others.
    var needs: [Int: UInt64] = [:]

    init(_ schema: SchemaObject) { names = NameSlots(schema) }

    mutating func add(_ key: JSONValue, needs others: ArraySlice<JSONValue>) {
        let slot = names.slot(of: key)
        for name in others { needs[slot, default: 0] |= 1 << UInt64(names.slot(of: name)) }
    }
}
