public import JSON

/// Options for the interpretation of a schema.
public struct SchemaOptions: Sendable {
    /// Whether a value that violates its `format` is invalid. Otherwise, formats are annotations (the default of
    /// 2020-12), except in schemas whose meta-schema has the vocabulary `format-assertion`.
    public var assertsFormat: Bool
    /// The draft of schemas without `$schema`.
    public var defaultDraft: SchemaDraft

    public init(assertsFormat: Bool = false, defaultDraft: SchemaDraft = .draft202012) {
        self.assertsFormat = assertsFormat
        self.defaultDraft = defaultDraft
    }
}

/// A JSON Schema and the schemas that it refers to, compiled to a flat program. Immutable after compilation, so every
/// thread may create validators for the schema.
public final class CompiledSchema: @unchecked Sendable {
    // `Sendable`: the initializer fills all tables, and the tables do not change afterward. PCRE2 allows several
    // threads to use a compiled pattern.
    let documents: [JSONDocument]
    /// The URI of each document; empty for a document without a URI.
    let documentURIs: [String]
    let tapes: Table<JSONTapeView>
    let code: Table<Instruction>
    /// For each instruction, the index of its keyword in `locations`.
    let codeLocations: Table<Int>
    let subschemas: Table<Subschema>
    let lists: Table<Int>
    let objects: Table<ObjectRule>
    let properties: Table<Property>
    let patternProperties: Table<PatternProperty>
    let arrays: Table<ArrayRule>
    let containments: Table<ContainsRule>
    let dependentRules: Table<DependentRule>
    let needs: Table<NeededNames>
    let enumerations: Table<Enumeration>
    let enumeratedNumbers: Table<NumberBound>
    let enumerated: Table<SchemaNode>
    let keys: Table<KeyEntry>
    let patterns: Table<Pattern>
    let dynamicReferences: Table<DynamicReference>
    let dynamicAnchors: Table<DynamicAnchor>
    let resources: Table<ResourceAnchors>
    let dynamicNameCount: Int
    let locations: [Location]

    /// The index of the root in `subschemas`, or `anything`.
    let root: Int
    /// Whether a subschema depends on the members or elements that other subschemas have evaluated.
    let tracksEvaluation: Bool
    /// Whether `SchemaValidator.holds` supports all instructions.
    let isPlain: Bool
    private let unknownPlaces: [SchemaNode]

    /// Maximum number of unknown keywords that are reported.
    static let unknownKeywordsMax = 100

    /// The position of a keyword in the schema.
    struct Location {
        var keyword: String
        var place: SchemaNode
    }

    struct Subschema {
        var first: Int32
        /// The resource that the subschema belongs to.
        var resource: Int32
        /// Whether no instruction of the subschema needs a frame.
        var isLeaf: Bool
        /// Whether the subschema has `unevaluatedProperties` or `unevaluatedItems`.
        var tracksEvaluation: Bool
    }

    /// Compiles a schema. `uri` is the location of the document, such as `file:///schemas/a.json`. References are
    /// relative to this URI, or to the schema's `$id`. Other documents must be among `resources`, except the built-in
    /// meta-schemas.
    public init(
        _ document: JSONDocument, uri: String = "", resources: SchemaResources = SchemaResources(),
        options: SchemaOptions = SchemaOptions()
    ) throws(SchemaError) {
        var compiler = SchemaCompiler(resources, options)
        try compiler.compile(document, uri: uri)
        documents = compiler.library.documents
        documentURIs = compiler.library.documentURIs
        tapes = Table(documents.map(\.root.tape.view))
        code = Table(compiler.code)
        codeLocations = Table(compiler.codeLocations)
        subschemas = Table(compiler.subschemas)
        lists = Table(compiler.lists)
        objects = Table(compiler.objects)
        properties = Table(compiler.properties)
        patternProperties = Table(compiler.patternProperties)
        arrays = Table(compiler.arrays)
        containments = Table(compiler.containments)
        dependentRules = Table(compiler.dependentRules)
        needs = Table(compiler.needs)
        enumerations = Table(compiler.enumerations)
        enumeratedNumbers = Table(compiler.enumeratedNumbers)
        enumerated = Table(compiler.enumerated)
        keys = Table(compiler.keys)
        patterns = Table(compiler.patterns)
        dynamicReferences = Table(compiler.dynamicReferences)
        dynamicAnchors = Table(compiler.dynamicAnchors)
        self.resources = Table(compiler.resourceAnchors)
        dynamicNameCount = compiler.dynamicNames.count
        locations = compiler.locations
        root = compiler.root
        tracksEvaluation = compiler.subschemas.contains { $0.tracksEvaluation }
        isPlain = compiler.code.allSatisfy { $0.isPlain } && compiler.objects.allSatisfy { $0.isPlain }
        unknownPlaces = compiler.unknownKeywords
    }

    deinit {
        for index in 0..<patterns.count { patterns[index].free() }
    }

    /// JSON pointers to the first 100 keywords that are unknown in the dialect of their schema. A pointer into a
    /// referenced document follows the URI of that document. Unknown keywords have no effect, but are often typos.
    public var unknownKeywords: [String] {
        unknownPlaces.map { place in
            let document = place.document == 0 ? "" : documentURIs[Int(place.document)] + "#"
            return document + documents[Int(place.document)].root.tape.pointer(to: Int(place.node))
        }
    }
}

/// An immutable array of plain values, read without reference counting or copying. The last owner frees the memory.
final class Table<Element: BitwiseCopyable> {
    let start: UnsafePointer<Element>
    let count: Int

    init(_ elements: [Element]) {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
        _ = UnsafeMutableBufferPointer(start: memory, count: elements.count).initialize(from: elements)
        start = UnsafePointer(memory)
        count = elements.count
    }

    deinit { start.deallocate() }

    subscript(_ index: Int) -> Element { start[index] }
}
