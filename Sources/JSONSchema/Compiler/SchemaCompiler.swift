import JSON

/// A compiler that translates a schema document, and the schemas that it refers to, into the tables of a
/// `CompiledSchema`. Subschemas wait in a queue, so nesting needs no recursion.
struct SchemaCompiler {
    var library: SchemaLibrary
    let options: SchemaOptions

    var code: [Instruction] = []
    var codeLocations: [Int] = []
    var subschemas: [CompiledSchema.Subschema] = []
    var lists: [Int] = []
    var objects: [ObjectRule] = []
    var properties: [Property] = []
    var patternProperties: [PatternProperty] = []
    var arrays: [ArrayRule] = []
    var containments: [ContainsRule] = []
    var dependentRules: [DependentRule] = []
    var needs: [NeededNames] = []
    var enumerations: [Enumeration] = []
    var enumeratedNumbers: [NumberBound] = []
    var enumerated: [SchemaNode] = []
    var keys: [KeyEntry] = []
    var patterns: [Pattern] = []
    /// The number of steps that remain for the automata of further patterns.
    var patternWork = Automaton.workMax
    var dynamicReferences: [DynamicReference] = []
    var dynamicAnchors: [DynamicAnchor] = []
    var resourceAnchors: [ResourceAnchors] = []
    /// The numbers of the names that dynamic references use.
    var dynamicNames: [ExactText: Int] = [:]
    var locations: [CompiledSchema.Location] = []
    var unknownKeywords: [SchemaNode] = []
    var root = anything

    /// The subschema index of each node.
    private var indices: [SchemaNode: Int] = [:]
    /// The nodes of all subschemas, in the order of `indices`. The nodes from `nextWaiting` on are not compiled yet.
    private var waiting: [(place: SchemaNode, resource: Int, keyword: String)] = []
    private var nextWaiting = 0
    /// For each subschema, the subschemas that it applies to the same value.
    var inPlace: [[Int]] = []

    init(_ resources: SchemaResources, _ options: SchemaOptions) {
        library = SchemaLibrary(given: resources, defaultDraft: options.defaultDraft)
        self.options = options
    }

    mutating func compile(_ document: JSONDocument, uri: String) throws(SchemaError) {
        do throws(SchemaError) {
            let place = try library.add(document, uri: URIReference(uri).withoutFragment)
            root = try subschema(place, inside: 0, keyword: "false")
            repeat { try compileWaiting() } while try compileDynamicAnchors()
            try refuseCircles()
        } catch {
            for pattern in patterns { pattern.free() }
            throw error
        }
    }

    private mutating func compileWaiting() throws(SchemaError) {
        while nextWaiting < waiting.count {
            let (place, resource, keyword) = waiting[nextWaiting]
            try compile(place, resource, keyword: keyword, index: nextWaiting)
            nextWaiting += 1
        }
    }

    /// Returns the index of a subschema, and adds a new subschema to the queue. Returns `anything` if the subschema is
    /// `true` or an empty object. `outer` is the resource of a subschema that is not registered.
    mutating func subschema(_ place: SchemaNode, inside outer: Int, keyword: String) throws(SchemaError) -> Int {
        let value = library.value(place)
        guard value.kind == .object || value.kind == .boolean else {
            throw library.error(.malformed, place, "a schema must be an object, true or false")
        }
        guard value.bool != true, !(value.kind == .object && value.count == 0) else { return anything }
        if let index = indices[place] { return index }
        let index = waiting.count
        let resource = library.resourceOfSchema[place] ?? outer
        indices[place] = index
        waiting.append((place, resource, keyword))
        subschemas.append(
            CompiledSchema.Subschema(
                first: 0, resource: Int32(truncatingIfNeeded: resource), isLeaf: true, tracksEvaluation: false))
        inPlace.append([])
        return index
    }

    private mutating func compile(
        _ place: SchemaNode, _ resource: Int, keyword: String, index: Int
    ) throws(SchemaError) {
        let first = code.count
        subschemas[index].first = Int32(truncatingIfNeeded: first)
        let value = library.value(place)
        if value.bool == false {
            emit(.never, keyword, at: place)
        } else {
            let schema = SchemaObject(
                value: value, document: place.document, resource: resource,
                dialect: library.resources[resource].dialect, index: index)
            try compileKeywords(of: schema)
        }
        emit(.end, "", at: place)
        subschemas[index].isLeaf = !code[first...].contains { $0.isApplicator }
        subschemas[index].tracksEvaluation = code[first...].contains { $0.readsEvaluation }
    }

    mutating func emit(_ instruction: Instruction, _ keyword: String, at place: SchemaNode) {
        code.append(instruction)
        codeLocations.append(location(keyword, at: place))
    }

    mutating func location(_ keyword: String, at place: SchemaNode) -> Int {
        locations.append(CompiledSchema.Location(keyword: keyword, place: place))
        return locations.count - 1
    }

    /// Rejects cycles of schemas that apply to the same value, because validation would never end. Cycles through
    /// dynamic references are detected only at run time.
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
        throw library.error(
            .reference, waiting[circle].place, "the schema refers to itself for the same value without end")
    }
}

/// The schema that is being compiled, and its dialect.
struct SchemaObject {
    var value: JSONValue
    var document: Int32
    var resource: Int
    var dialect: Dialect
    /// The index of the schema among the subschemas.
    var index: Int

    var place: SchemaNode { place(value) }

    func place(_ value: JSONValue) -> SchemaNode {
        SchemaNode(document: document, node: Int32(truncatingIfNeeded: value.index))
    }

    /// Returns the value of a keyword; nil if the keyword is missing, or the schema's dialect does not have it.
    func callAsFunction(_ keyword: String) -> JSONValue? {
        dialect.knows(keyword) ? value[key: keyword] : nil
    }

    /// Returns the position of a keyword's value, or of the schema if the keyword is missing.
    func place(of keyword: String) -> SchemaNode { value[key: keyword].map { place($0) } ?? place }
}
