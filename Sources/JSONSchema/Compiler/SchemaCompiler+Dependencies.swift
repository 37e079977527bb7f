import JSON

/// The compilation of `dependentRequired`, `dependentSchemas`, and `dependencies`, which combines the other two.
extension SchemaCompiler {
    mutating func compileDependentRequired(
        _ value: JSONValue, _ keyword: String, _ schema: SchemaObject
    ) throws(SchemaError) {
        try checkIsObject(value, keyword, schema)
        var slots = NameSlots(schema)
        var neededNames: [[JSONValue]] = []
        for (key, list) in value.members {
            guard keyword == "dependentRequired" || list.kind == .array else { continue }
            let needed = try names(list, schema)
            guard !needed.isEmpty else { continue }
            _ = slots.slot(of: key)
            neededNames.append(needed)
        }
        guard !neededNames.isEmpty else { return }
        let first = needs.count
        for needed in neededNames {
            needs.append(NeededNames(first: lists.count, count: needed.count))
            lists += needed.map { slots.slot(of: $0) }
        }
        dependentRules.append(
            DependentRule(names: keyTable(slots.strings), first: first, count: neededNames.count))
        emit(.dependentRequired(dependentRules.count - 1), keyword, at: schema.place(value))
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
        dependentRules.append(
            DependentRule(names: keyTable(slots.strings), first: lists.count, count: targets.count))
        lists += targets
        inPlace[schema.index] += targets
        emit(.dependentSchemas(dependentRules.count - 1), keyword, at: schema.place(value))
    }
}
