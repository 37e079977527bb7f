import JSON

/// The keywords for members and elements. Keywords that depend on each other are compiled to one instruction.
extension SchemaCompiler {
    mutating func compileObject(_ schema: SchemaObject) throws(SchemaError) {
        let required = try schema("required").map { value throws(SchemaError) in try names(value, schema) } ?? []
        let keywords = ["properties", "patternProperties", "additionalProperties", "propertyNames"]
        guard !required.isEmpty || keywords.contains(where: { schema($0) != nil }) else { return }

        var slots = NameSlots(schema)
        for name in required { _ = slots.slot(of: name) }
        var rule = ObjectRule(
            names: KeyTable(first: 0, mask: 0, lengths: 0), nameCount: 0, firstProperty: 0,
            requiredCount: slots.strings.count, firstPattern: patternProperties.count, patternCount: 0,
            additional: anything, coversAll: false, forbidsAdditional: false, propertyNames: anything,
            requiredLocation: location("required", at: schema.place(of: "required")),
            additionalLocation: location("additionalProperties", at: schema.place(of: "additionalProperties")))

        var found: [Property] = slots.strings.map { _ in Property(schema: anything, isDeclared: false) }
        if let declared = schema("properties") {
            try checkIsObject(declared, "properties", schema)
            for (key, value) in declared.members {
                let index = try subschema(value, in: schema, keyword: "properties")
                let slot = slots.slot(of: key)
                let property = Property(schema: index, isDeclared: true)
                if slot < found.count { found[slot] = property } else { found.append(property) }
            }
        }
        rule.names = keyTable(slots.strings)
        rule.nameCount = slots.strings.count
        rule.firstProperty = properties.count
        properties += found

        if let patterned = schema("patternProperties") {
            try checkIsObject(patterned, "patternProperties", schema)
            for (key, value) in patterned.members {
                let pattern = try pattern(key, schema)
                let index = try subschema(value, in: schema, keyword: "patternProperties")
                patternProperties.append(PatternProperty(pattern: pattern, schema: index))
            }
            rule.patternCount = patterned.count
        }
        if let additional = schema("additionalProperties") {
            let index = try subschema(additional, in: schema, keyword: "additionalProperties")
            rule.coversAll = true
            rule.forbidsAdditional = additional.bool == false
            if !rule.forbidsAdditional { rule.additional = index }
        }
        if let names = schema("propertyNames") {
            rule.propertyNames = try subschema(names, in: schema, keyword: "propertyNames")
        }
        objects.append(rule)
        emit(.object(objects.count - 1), "properties", at: schema.place(of: "properties"))
    }

    /// Compiles `prefixItems` and `items`, or `items` and `additionalItems` of older drafts.
    mutating func compileArray(_ schema: SchemaObject) throws(SchemaError) {
        var prefix = ("prefixItems", schema("prefixItems"))
        var rest = ("items", schema("items"))
        if schema.dialect.hasItemsArray, let items = rest.1, items.kind == .array {
            prefix = ("items", items.count > 0 ? items : nil)
            rest = ("additionalItems", schema("additionalItems"))
        } else if let additional = schema("additionalItems") {
            // Without an array in `items`, `additionalItems` has no effect, but must be a valid schema.
            _ = try subschema(additional, in: schema, keyword: "additionalItems")
        }
        guard prefix.1 != nil || rest.1 != nil else { return }
        var rule = ArrayRule(prefix: SchemaList(first: 0, count: 0), items: anything, coversAll: rest.1 != nil)
        if let value = prefix.1 { rule.prefix = try schemaList(value, prefix.0, schema) }
        if let value = rest.1 { rule.items = try subschema(value, in: schema, keyword: rest.0) }
        arrays.append(rule)
        emit(.array(arrays.count - 1), "items", at: schema.place(of: "items"))
    }

    mutating func compileContains(_ schema: SchemaObject) throws(SchemaError) {
        let least = try schema("minContains").map { value throws(SchemaError) in try count(value, schema) }
        let most = try schema("maxContains").map { value throws(SchemaError) in try count(value, schema) }
        guard let value = schema("contains") else { return }
        let minKeyword = least == nil ? "contains" : "minContains"
        containments.append(
            ContainsRule(
                schema: try subschema(value, in: schema, keyword: "contains"), countMin: least ?? 1,
                countMax: most ?? .max, evaluates: schema.dialect.containsEvaluates,
                minLocation: location(minKeyword, at: schema.place(of: minKeyword)),
                maxLocation: location("maxContains", at: schema.place(of: "maxContains"))))
        emit(.contains(containments.count - 1), "contains", at: schema.place(value))
    }

    mutating func compileUnevaluated(_ schema: SchemaObject) throws(SchemaError) {
        if let value = schema("unevaluatedItems") {
            let index = try subschema(value, in: schema, keyword: "unevaluatedItems")
            emit(.unevaluatedItems(index), "unevaluatedItems", at: schema.place(value))
        }
        if let value = schema("unevaluatedProperties") {
            let index = try subschema(value, in: schema, keyword: "unevaluatedProperties")
            emit(.unevaluatedProperties(index), "unevaluatedProperties", at: schema.place(value))
        }
    }

    func checkIsObject(_ value: JSONValue, _ keyword: String, _ schema: SchemaObject) throws(SchemaError) {
        guard value.kind == .object else { throw malformed(value, schema, "\(keyword) must be an object of schemas") }
    }

    func names(_ value: JSONValue, _ schema: SchemaObject) throws(SchemaError) -> [JSONValue] {
        guard value.kind == .array, value.elements.allSatisfy({ $0.kind == .string }) else {
            throw malformed(value, schema, "the value must be an array of strings")
        }
        return Array(value.elements)
    }
}

/// Numbers for distinct names, counted from 0 in the order of first use.
struct NameSlots {
    private let schema: SchemaObject
    private(set) var strings: [(place: SchemaNode, slot: Int)] = []
    private var slots: [ExactText: Int] = [:]

    init(_ schema: SchemaObject) { self.schema = schema }

    mutating func slot(of name: JSONValue) -> Int {
        let text = ExactText(name.string ?? "")
        if let slot = slots[text] { return slot }
        slots[text] = strings.count
        strings.append((schema.place(name), strings.count))
        return strings.count - 1
    }
}
