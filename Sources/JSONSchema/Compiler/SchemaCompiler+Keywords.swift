import JSON

extension SchemaCompiler {
    /// Emits cheap assertions first, then what is inside, then what depends on it: so the first violation is mostly
    /// the one to begin with.
    mutating func compileKeywords(of schema: JSONValue, index: Int) throws(SchemaError) {
        for (key, value) in schema.members {
            try compileAssertion(key.string ?? "", value)
        }
        try compileObject(schema)
        try compileArray(schema)
        for (key, value) in schema.members {
            try compileApplicator(key.string ?? "", value, index: index)
        }
        try compileConditional(schema, index: index)
        for (key, value) in schema.members {
            try checkKnown(key.string ?? "", value)
        }
    }

    private mutating func compileAssertion(_ keyword: String, _ value: JSONValue) throws(SchemaError) {
        switch keyword {
        case "type": emit(.type(try typeSet(value)), keyword, at: value.index)
        case "const": emit(.constant(node: value.index), keyword, at: value.index)
        case "enum": emit(.enumeration(try enumeration(value)), keyword, at: value.index)
        case "minimum": emit(.minimum(try bound(value)), keyword, at: value.index)
        case "exclusiveMinimum": emit(.exclusiveMinimum(try bound(value)), keyword, at: value.index)
        case "maximum": emit(.maximum(try bound(value)), keyword, at: value.index)
        case "exclusiveMaximum": emit(.exclusiveMaximum(try bound(value)), keyword, at: value.index)
        case "multipleOf":
            guard let divisor = value.number, !divisor.isNegative, !divisor.isZero else {
                throw malformed(value, "multipleOf must be a number above 0")
            }
            guard divisor.digitCount <= JSONNumber.divisorDigitsMax else {
                throw malformed(value, "multipleOf may have at most \(JSONNumber.divisorDigitsMax) digits")
            }
            emit(.multipleOf(node: value.index), keyword, at: value.index)
        case "minLength": emit(.minLength(try count(value)), keyword, at: value.index)
        case "maxLength": emit(.maxLength(try count(value)), keyword, at: value.index)
        case "minItems": emit(.minItems(try count(value)), keyword, at: value.index)
        case "maxItems": emit(.maxItems(try count(value)), keyword, at: value.index)
        case "minProperties": emit(.minProperties(try count(value)), keyword, at: value.index)
        case "maxProperties": emit(.maxProperties(try count(value)), keyword, at: value.index)
        case "pattern":
            guard value.kind == .string else { throw malformed(value, "pattern must be a string") }
            emit(.pattern(try pattern(value)), keyword, at: value.index)
        default: break
        }
    }

    private mutating func compileApplicator(
        _ keyword: String, _ value: JSONValue, index: Int
    ) throws(SchemaError) {
        switch keyword {
        case "$ref":
            let target = try reference(value)
            guard target != anything else { return }
            emit(.call(target), keyword, at: value.index)
            inPlace[index].append(target)
        case "allOf":
            for element in try schemas(value, keyword) {
                let target = try subschema(element, keyword: keyword)
                guard target != anything else { continue }
                emit(.call(target), keyword, at: element.index)
                inPlace[index].append(target)
            }
        case "anyOf":
            emit(.anyOf(try list(value, keyword, index: index)), keyword, at: value.index)
        case "oneOf":
            emit(.oneOf(try list(value, keyword, index: index)), keyword, at: value.index)
        case "not":
            let target = try subschema(value, keyword: keyword)
            guard target != anything else { return emit(.never, keyword, at: value.index) }
            emit(.not(target), keyword, at: value.index)
            inPlace[index].append(target)
        case "dependentRequired":
            try compileDependentRequired(value)
        case "$defs":
            guard value.kind == .object else { throw malformed(value, "$defs must be an object") }
            for (_, definition) in value.members { _ = try subschema(definition, keyword: keyword) }
        default: break
        }
    }

    private mutating func compileConditional(_ schema: JSONValue, index: Int) throws(SchemaError) {
        let then = try schema["then"].map { value throws(SchemaError) in try subschema(value, keyword: "then") }
        let otherwise = try schema["else"].map { value throws(SchemaError) in try subschema(value, keyword: "else") }
        guard let value = schema["if"] else { return }
        let condition = try subschema(value, keyword: "if")
        let conditional = Conditional(
            condition: condition, then: then ?? anything, otherwise: otherwise ?? anything)
        guard conditional.then != anything || conditional.otherwise != anything else { return }
        emit(.conditional(conditional), "if", at: value.index)
        inPlace[index] += [condition, conditional.then, conditional.otherwise].filter { $0 != anything }
    }

    private mutating func checkKnown(_ keyword: String, _ value: JSONValue) throws(SchemaError) {
        switch keyword {
        case "type", "const", "enum", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
            "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "pattern",
            "$ref", "allOf", "anyOf", "oneOf", "not", "dependentRequired", "$defs", "if", "then", "else",
            "properties", "patternProperties", "additionalProperties", "propertyNames", "required",
            "items", "prefixItems":
            break
        case "$id" where value.pointer == "/$id":
            break
        case "$schema", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly",
            "writeOnly", "format", "contentEncoding", "contentMediaType", "contentSchema", "$vocabulary":
            break
        case "$id", "contains", "minContains", "maxContains", "uniqueItems", "unevaluatedItems",
            "unevaluatedProperties",
            "dependentSchemas", "dependencies", "additionalItems", "$anchor", "$dynamicRef", "$dynamicAnchor",
            "$recursiveRef", "$recursiveAnchor", "definitions":
            throw SchemaError(
                code: .unsupported, pointer: value.pointer, message: "the keyword \(keyword) is not supported here")
        default:
            unknownKeywords.append(value.pointer)
        }
    }
}

extension SchemaCompiler {
    func count(_ value: JSONValue) throws(SchemaError) -> Int {
        guard let number = value.number, number.isInteger, !number.isNegative else {
            throw malformed(value, "must be a whole number of at least 0")
        }
        return number.int64.map { Int($0) } ?? Int.max
    }

    private func bound(_ value: JSONValue) throws(SchemaError) -> NumberBound {
        guard let number = value.number else { throw malformed(value, "must be a number") }
        return NumberBound(node: value.index, small: number.int64)
    }

    private func typeSet(_ value: JSONValue) throws(SchemaError) -> TypeSet {
        let names = value.kind == .array ? Array(value.elements) : [value]
        guard !names.isEmpty else { throw malformed(value, "type must name one type at least") }
        var types: TypeSet = []
        for name in names {
            switch name.string {
            case "null": types.insert(.null)
            case "boolean": types.insert(.boolean)
            case "number": types.insert(.number)
            case "string": types.insert(.string)
            case "array": types.insert(.array)
            case "object": types.insert(.object)
            case "integer": types.insert(.integer)
            default:
                throw malformed(name, "must be one of null, boolean, number, integer, string, array, object")
            }
        }
        return types
    }

    private mutating func enumeration(_ value: JSONValue) throws(SchemaError) -> Int {
        guard value.kind == .array else { throw malformed(value, "enum must be an array") }
        var strings: [(node: Int, slot: Int)] = []
        let first = enumerated.count
        for element in value.elements {
            if element.kind == .string {
                strings.append((element.index, 0))
            } else {
                enumerated.append(element.index)
            }
        }
        enumerations.append(
            Enumeration(strings: keyTable(strings), first: first, count: enumerated.count - first))
        return enumerations.count - 1
    }

    mutating func pattern(_ value: JSONValue) throws(SchemaError) -> Int {
        do throws(PatternError) {
            patterns.append(try Pattern(tape.text(of: value.index)))
        } catch {
            throw SchemaError(
                code: .pattern, pointer: value.pointer,
                message: "the regular expression is wrong at byte \(error.offset): \(error.message)")
        }
        return patterns.count - 1
    }

    private func schemas(_ value: JSONValue, _ keyword: String) throws(SchemaError) -> JSONElements {
        guard value.kind == .array, value.count > 0 else {
            throw malformed(value, "\(keyword) must be an array of one schema at least")
        }
        return value.elements
    }

    /// Schemas that are applied to the same value.
    private mutating func list(_ value: JSONValue, _ keyword: String, index: Int) throws(SchemaError) -> SchemaList {
        let list = try schemaList(value, keyword)
        inPlace[index] += lists[list.first...].filter { $0 != anything }
        return list
    }

    mutating func schemaList(_ value: JSONValue, _ keyword: String) throws(SchemaError) -> SchemaList {
        var indices: [Int] = []
        for element in try schemas(value, keyword) {
            indices.append(try subschema(element, keyword: keyword))
        }
        lists += indices
        return SchemaList(first: lists.count - indices.count, count: indices.count)
    }

    /// A table that finds a slot by a string of the schema; of equal strings the first counts.
    mutating func keyTable(_ strings: [(node: Int, slot: Int)]) -> KeyTable {
        var size = 2
        while size < 2 * strings.count { size *= 2 }
        var table = KeyTable(first: keys.count, mask: size - 1, lengths: 0)
        let free = KeyEntry(words: KeyFingerprint(count: 0, first: 0, last: 0), node: 0, slot: -1)
        keys += Array(repeating: free, count: size)
        for (node, slot) in strings {
            let words = tape.keyWords(of: node)
            var place = Int(truncatingIfNeeded: words.fingerprint) & table.mask
            while keys[table.first + place].slot >= 0 { place = (place + 1) & table.mask }
            keys[table.first + place] = KeyEntry(words: words, node: node, slot: slot)
            table.lengths |= 1 << UInt64(words.count & 63)
        }
        return table
    }
}
