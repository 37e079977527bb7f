import JSON

/// The compilation of operands of instructions.
extension SchemaCompiler {
    func malformed(_ value: JSONValue, _ schema: SchemaObject, _ message: String) -> SchemaError {
        library.error(.malformed, schema.place(value), message)
    }

    mutating func subschema(_ value: JSONValue, in schema: SchemaObject, keyword: String) throws(SchemaError) -> Int {
        try subschema(schema.place(value), inside: schema.resource, keyword: keyword)
    }

    func count(_ value: JSONValue, _ schema: SchemaObject) throws(SchemaError) -> Int {
        guard let number = value.number, number.isInteger, !number.isNegative else {
            throw malformed(value, schema, "the value must be a whole number of at least 0")
        }
        return number.int64.map { Int($0) } ?? Int.max
    }

    func bound(_ value: JSONValue, _ schema: SchemaObject) throws(SchemaError) -> NumberBound {
        guard let number = value.number else { throw malformed(value, schema, "the value must be a number") }
        return NumberBound(place: schema.place(value), small: number.int64)
    }

    func typeSet(_ value: JSONValue, _ schema: SchemaObject) throws(SchemaError) -> TypeSet {
        let names = value.kind == .array ? Array(value.elements) : [value]
        guard !names.isEmpty else { throw malformed(value, schema, "type must name at least one type") }
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
                throw malformed(
                    name, schema, "a type must be one of null, boolean, number, integer, string, array, object")
            }
        }
        return types
    }

    mutating func enumeration(_ value: JSONValue, _ schema: SchemaObject) throws(SchemaError) -> Int {
        guard value.kind == .array else { throw malformed(value, schema, "enum must be an array") }
        let strings = value.elements.filter { $0.kind == .string }.map { (place: schema.place($0), slot: 0) }
        let numbers = value.elements.compactMap { element in element.number.map { (element, $0) } }
            .sorted { $0.1 < $1.1 }
        let others = value.elements.filter { $0.kind != .string && $0.kind != .number }
        enumerations.append(
            Enumeration(
                strings: keyTable(strings), firstNumber: enumeratedNumbers.count, numberCount: numbers.count,
                firstOther: enumerated.count, otherCount: others.count))
        enumeratedNumbers += numbers.map { NumberBound(place: schema.place($0), small: $1.int64) }
        enumerated += others.map { schema.place($0) }
        return enumerations.count - 1
    }

    mutating func pattern(_ value: JSONValue, _ schema: SchemaObject) throws(SchemaError) -> Int {
        do throws(PatternError) {
            patterns.append(try Pattern(value.tape.view.text(of: value.index), work: &patternWork))
        } catch {
            throw library.error(
                .pattern, schema.place(value),
                "invalid regular expression\(error.offset.map { " at byte \($0)" } ?? ""): \(error.message)")
        }
        return patterns.count - 1
    }

    func schemas(
        _ value: JSONValue, _ keyword: String, _ schema: SchemaObject
    ) throws(SchemaError) -> JSONElements {
        guard value.kind == .array, value.count > 0 else {
            throw malformed(value, schema, "\(keyword) must be an array of at least one schema")
        }
        return value.elements
    }

    /// Compiles an array of schemas that are applied to the same value. Returns their list.
    mutating func alternatives(
        _ value: JSONValue, _ keyword: String, _ schema: SchemaObject
    ) throws(SchemaError) -> SchemaList {
        let list = try schemaList(value, keyword, schema)
        inPlace[schema.index] += lists[list.first...].filter { $0 != anything }
        return list
    }

    mutating func schemaList(
        _ value: JSONValue, _ keyword: String, _ schema: SchemaObject
    ) throws(SchemaError) -> SchemaList {
        var indices: [Int] = []
        for element in try schemas(value, keyword, schema) {
            indices.append(try subschema(element, in: schema, keyword: keyword))
        }
        lists += indices
        return SchemaList(first: lists.count - indices.count, count: indices.count)
    }

    /// Creates a hash table in `keys` from strings of the schema to slots. The first of equal strings wins.
    mutating func keyTable(_ strings: [(place: SchemaNode, slot: Int)]) -> KeyTable {
        var size = 2
        while size < 2 * strings.count { size *= 2 }
        var table = KeyTable(first: keys.count, mask: size - 1, lengths: 0)
        let free = KeyEntry(
            words: KeyFingerprint(count: 0, first: 0, last: 0), place: SchemaNode(document: 0, node: 0), slot: -1)
        keys += Array(repeating: free, count: size)
        for (node, slot) in strings {
            let tape = library.value(node).tape.view
            let words = tape.keyWords(of: Int(node.node))
            var place = Int(truncatingIfNeeded: tape.keyHash(of: Int(node.node), words)) & table.mask
            while keys[table.first + place].slot >= 0 { place = (place + 1) & table.mask }
            keys[table.first + place] = KeyEntry(words: words, place: node, slot: slot)
            table.lengths |= 1 << UInt64(words.count & 63)
            table.longest = max(table.longest, words.count)
        }
        return table
    }
}
