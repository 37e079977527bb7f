import JSON

/// Turns a schema document into the tables of a `CompiledSchema`. Subschemas wait in a queue, so a deeply nested
/// schema needs no deep stack.
struct SchemaCompiler {
    let document: JSONDocument
    let tape: JSONTapeView

    var code: [Instruction] = []
    var codeLocations: [Int] = []
    var subschemas: [CompiledSchema.Subschema] = []
    var lists: [Int] = []
    var objects: [ObjectRule] = []
    var properties: [Property] = []
    var patternProperties: [PatternProperty] = []
    var arrays: [ArrayRule] = []
    var dependentRules: [DependentRule] = []
    var dependents: [UInt64] = []
    var enumerations: [Enumeration] = []
    var enumerated: [Int] = []
    var keys: [KeyEntry] = []
    var patterns: [Pattern] = []
    var locations: [CompiledSchema.Location] = []
    var unknownKeywords: [String] = []
    var root = anything

    /// The subschema that a node of the document was given, and the nodes that are still to be compiled.
    private var indices: [Int: Int] = [:]
    private var waiting: [(value: JSONValue, keyword: String)] = []
    private var nextWaiting = 0
    /// For each subschema those that it applies to the same value.
    var inPlace: [[Int]] = []

    init(_ document: JSONDocument) {
        self.document = document
        tape = document.root.tape.view
    }

    mutating func compile() throws(SchemaError) {
        do throws(SchemaError) {
            try checkDialect()
            root = try subschema(document.root, keyword: "false")
            while nextWaiting < waiting.count {
                let (value, keyword) = waiting[nextWaiting]
                try compile(value, keyword: keyword, index: nextWaiting)
                nextWaiting += 1
            }
            try refuseCircles()
        } catch {
            for pattern in patterns { pattern.free() }
            throw error
        }
    }

    private func checkDialect() throws(SchemaError) {
        guard let dialect = document.root["$schema"] else { return }
        guard let name = dialect.string else { throw malformed(dialect, "$schema must be a string") }
        guard name == "https://json-schema.org/draft/2020-12/schema" else {
            throw SchemaError(
                code: .unsupported, pointer: "/$schema",
                message: "only https://json-schema.org/draft/2020-12/schema is known here")
        }
    }

    /// The index of a subschema, which is compiled later; `anything` for one that asks for nothing.
    mutating func subschema(_ value: JSONValue, keyword: String) throws(SchemaError) -> Int {
        guard value.kind == .object || value.kind == .boolean else {
            throw malformed(value, "a schema is an object, true or false")
        }
        guard value.bool != true, !(value.kind == .object && value.count == 0) else { return anything }
        if let index = indices[value.index] { return index }
        let index = waiting.count
        indices[value.index] = index
        waiting.append((value, keyword))
        subschemas.append(CompiledSchema.Subschema(first: 0, isLeaf: true))
        inPlace.append([])
        return index
    }

    private mutating func compile(_ value: JSONValue, keyword: String, index: Int) throws(SchemaError) {
        subschemas[index].first = code.count
        if value.bool == false {
            emit(.never, keyword, at: value.index)
        } else {
            try compileKeywords(of: value, index: index)
        }
        emit(.end, "", at: value.index)
        subschemas[index].isLeaf = !code[subschemas[index].first...].contains { $0.isApplicator }
    }

    mutating func emit(_ instruction: Instruction, _ keyword: String, at node: Int) {
        code.append(instruction)
        codeLocations.append(location(keyword, at: node))
    }

    mutating func location(_ keyword: String, at node: Int) -> Int {
        locations.append(CompiledSchema.Location(keyword: keyword, node: node))
        return locations.count - 1
    }

    func malformed(_ value: JSONValue, _ message: String) -> SchemaError {
        SchemaError(code: .malformed, pointer: value.pointer, message: message)
    }

    /// A schema that comes back to itself without going down into the value would never end.
    private func refuseCircles() throws(SchemaError) {
        var waitedFor = [Int](repeating: 0, count: inPlace.count)
        for target in inPlace.joined() { waitedFor[target] += 1 }
        var free = waitedFor.indices.filter { waitedFor[$0] == 0 }
        while let index = free.popLast() {
            for target in inPlace[index] {
                waitedFor[target] -= 1
                if waitedFor[target] == 0 { free.append(target) }
            }
        }
        guard let circle = waitedFor.firstIndex(where: { $0 > 0 }) else { return }
        throw SchemaError(
            code: .reference, pointer: waiting[circle].value.pointer,
            message: "the schema refers to itself for the same value, which never ends")
    }
}
