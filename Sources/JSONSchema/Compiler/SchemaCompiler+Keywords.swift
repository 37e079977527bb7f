import JSON

extension SchemaCompiler {
    /// Emits assertions first, then checks of members and elements, then applicators. The first violation is therefore
    /// usually the most useful violation. `unevaluatedProperties` and `unevaluatedItems` are last, after all other
    /// keywords have marked the members and elements that they evaluate.
    mutating func compileKeywords(of schema: SchemaObject) throws(SchemaError) {
        if schema.dialect.ignoresSiblingsOfRef, let reference = schema.value["$ref"] {
            return try compileReference(reference, "$ref", schema)
        }
        let known = schema.value.members.compactMap { key, value in
            key.string.flatMap { schema.dialect.knows($0) ? ($0, value) : nil }
        }
        for (keyword, value) in known { try compileAssertion(keyword, value, schema) }
        try compileObject(schema)
        try compileArray(schema)
        try compileContains(schema)
        for (keyword, value) in known { try compileApplicator(keyword, value, schema) }
        try compileConditional(schema)
        try compileUnevaluated(schema)
        for (keyword, value) in known { try checkAnnotation(keyword, value, schema) }
        noteUnknown(schema)
    }

    private mutating func compileAssertion(
        _ keyword: String, _ value: JSONValue, _ schema: SchemaObject
    ) throws(SchemaError) {
        let place = schema.place(value)
        switch keyword {
        case "type": emit(.type(try typeSet(value, schema)), keyword, at: place)
        case "const": emit(.constant(place), keyword, at: place)
        case "enum": emit(.enumeration(try enumeration(value, schema)), keyword, at: place)
        case "minimum": emit(.minimum(try bound(value, schema)), keyword, at: place)
        case "exclusiveMinimum": emit(.exclusiveMinimum(try bound(value, schema)), keyword, at: place)
        case "maximum": emit(.maximum(try bound(value, schema)), keyword, at: place)
        case "exclusiveMaximum": emit(.exclusiveMaximum(try bound(value, schema)), keyword, at: place)
        case "multipleOf":
            guard let divisor = value.number, !divisor.isNegative, !divisor.isZero else {
                throw malformed(value, schema, "multipleOf must be a number above 0")
            }
            guard divisor.digitCount <= JSONNumber.divisorDigitsMax else {
                throw library.error(
                    .unsupported, place, "multipleOf may have at most \(JSONNumber.divisorDigitsMax) digits")
            }
            emit(.multipleOf(place), keyword, at: place)
        case "minLength": emit(.minLength(try count(value, schema)), keyword, at: place)
        case "maxLength": emit(.maxLength(try count(value, schema)), keyword, at: place)
        case "minItems": emit(.minItems(try count(value, schema)), keyword, at: place)
        case "maxItems": emit(.maxItems(try count(value, schema)), keyword, at: place)
        case "minProperties": emit(.minProperties(try count(value, schema)), keyword, at: place)
        case "maxProperties": emit(.maxProperties(try count(value, schema)), keyword, at: place)
        case "pattern":
            guard value.kind == .string else { throw malformed(value, schema, "pattern must be a string") }
            emit(.pattern(try pattern(value, schema)), keyword, at: place)
        case "format":
            guard let name = value.string else { throw malformed(value, schema, "format must be a string") }
            guard options.assertsFormat || schema.dialect.vocabularies.contains(.formatAssertion),
                let format = Format(rawValue: name)
            else { return }
            emit(.format(format), keyword, at: place)
        case "uniqueItems":
            guard let isUnique = value.bool else { throw malformed(value, schema, "uniqueItems must be true or false") }
            if isUnique { emit(.uniqueItems, keyword, at: place) }
        default: break
        }
    }

    private mutating func compileApplicator(
        _ keyword: String, _ value: JSONValue, _ schema: SchemaObject
    ) throws(SchemaError) {
        let place = schema.place(value)
        switch keyword {
        case "$ref", "$dynamicRef", "$recursiveRef":
            try compileReference(value, keyword, schema)
        case "allOf":
            for element in try schemas(value, keyword, schema) {
                call(try subschema(element, in: schema, keyword: keyword), keyword, at: schema.place(element), schema)
            }
        case "anyOf":
            emit(.anyOf(try alternatives(value, keyword, schema)), keyword, at: place)
        case "oneOf":
            emit(.oneOf(try alternatives(value, keyword, schema)), keyword, at: place)
        case "not":
            let target = try subschema(value, in: schema, keyword: keyword)
            guard target != anything else { return emit(.never, keyword, at: place) }
            emit(.not(target), keyword, at: place)
            inPlace[schema.index].append(target)
        case "dependentRequired":
            try compileDependentRequired(value, keyword, schema)
        case "dependentSchemas":
            try compileDependentSchemas(value, keyword, schema)
        case "dependencies":
            try compileDependentRequired(value, keyword, schema)
            try compileDependentSchemas(value, keyword, schema)
        case "$defs", "definitions":
            guard value.kind == .object else { throw malformed(value, schema, "\(keyword) must be an object") }
            for (_, definition) in value.members { _ = try subschema(definition, in: schema, keyword: keyword) }
        default: break
        }
    }

    private mutating func call(_ target: Int, _ keyword: String, at place: SchemaNode, _ schema: SchemaObject) {
        guard target != anything else { return }
        emit(.call(target), keyword, at: place)
        inPlace[schema.index].append(target)
    }

    private mutating func compileReference(
        _ value: JSONValue, _ keyword: String, _ schema: SchemaObject
    ) throws(SchemaError) {
        let place = schema.place(value)
        guard let text = value.string else { throw malformed(value, schema, "\(keyword) must be a string") }
        let target = try library.resolve(text, in: schema.resource, at: place)
        let index = try subschema(target.place, inside: schema.resource, keyword: keyword)
        guard let name = dynamicName(keyword, target) else { return call(index, keyword, at: place, schema) }
        dynamicReferences.append(DynamicReference(name: name, fallback: index))
        emit(.dynamicCall(dynamicReferences.count - 1), keyword, at: place)
    }

    private mutating func compileConditional(_ schema: SchemaObject) throws(SchemaError) {
        let then = try branch("then", schema)
        let otherwise = try branch("else", schema)
        guard let value = schema("if") else { return }
        let conditional = Conditional(
            condition: try subschema(value, in: schema, keyword: "if"), then: then, otherwise: otherwise)
        emit(.conditional(conditional), "if", at: schema.place(value))
        inPlace[schema.index] += [conditional.condition, then, otherwise].filter { $0 != anything }
    }

    private mutating func branch(_ keyword: String, _ schema: SchemaObject) throws(SchemaError) -> Int {
        try schema(keyword).map { value throws(SchemaError) in
            try subschema(value, in: schema, keyword: keyword)
        } ?? anything
    }

    /// Checks the values of some keywords that do not affect validity.
    private mutating func checkAnnotation(
        _ keyword: String, _ value: JSONValue, _ schema: SchemaObject
    ) throws(SchemaError) {
        switch keyword {
        case "$comment", "title", "description", "contentEncoding", "contentMediaType":
            guard value.kind == .string else { throw malformed(value, schema, "\(keyword) must be a string") }
        case "contentSchema":
            _ = try subschema(value, in: schema, keyword: keyword)
        default: break
        }
    }

    private mutating func noteUnknown(_ schema: SchemaObject) {
        for (key, value) in schema.value.members where !schema.dialect.knows(key.string ?? "") {
            guard unknownKeywords.count < CompiledSchema.unknownKeywordsMax else { return }
            unknownKeywords.append(schema.place(value))
        }
    }
}
