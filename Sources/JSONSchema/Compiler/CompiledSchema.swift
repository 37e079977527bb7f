public import JSON

/// How a schema is to be read.
public struct SchemaOptions: Sendable {
    /// A value that breaks its `format` is invalid; else formats are annotations, as 2020-12 has it.
    public var assertsFormat: Bool
    /// The draft of schemas that have no `$schema`.
    public var defaultDraft: SchemaDraft

    public init(assertsFormat: Bool = false, defaultDraft: SchemaDraft = .draft202012) {
        self.assertsFormat = assertsFormat
        self.defaultDraft = defaultDraft
    }
}

/// A JSON Schema (2020-12 or draft-07) and all that it refers to as a flat program. Compiled once, then never changed:
/// any thread may make validators of it.
public final class CompiledSchema: @unchecked Sendable {
    // Sendable: everything is filled before the initialiser returns and never changed again; PCRE2 allows a compiled
    // pattern to be used by several threads.
    let documents: [JSONDocument]
    /// The URI of each document; empty when it has none.
    let documentURIs: [String]
    let tapes: Table<JSONTapeView>
    let code: Table<Instruction>
    /// For each instruction the index of its keyword's location.
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

    /// Where the root begins in `subschemas`; or `anything`.
    let root: Int
    /// Some subschema asks what others have evaluated.
    let tracksEvaluation: Bool
    /// It has only what `SchemaValidator.holds` knows.
    let isPlain: Bool
    private let unknownPlaces: [SchemaNode]

    /// Keywords that are told of those that no vocabulary knows.
    static let unknownKeywordsMax = 100

    /// Where a keyword stands in the schema.
    struct Location {
        var keyword: String
        var place: SchemaNode
    }

    struct Subschema {
        var first: Int32
        /// The resource that it belongs to.
        var resource: Int32
        /// Asserts about the value itself only.
        var isLeaf: Bool
        /// Has `unevaluatedProperties` or `unevaluatedItems`.
        var tracksEvaluation: Bool
    }

    /// `uri` says where the document is, as `file:///schemas/a.json`: references are relative to it, or to the schema's
    /// own `$id`. What is found in other documents must be among `resources`.
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

    /// The first 100 keywords that no vocabulary knows, by pointer, with the document's URI before it in other documents
    /// than the first: they decide nothing, but are often a slip of the pen.
    public var unknownKeywords: [String] {
        unknownPlaces.map { place in
            let document = place.document == 0 ? "" : documentURIs[Int(place.document)] + "#"
            return document + documents[Int(place.document)].root.tape.pointer(to: Int(place.node))
        }
    }
}

/// Plain values that are read without a reference count and without copying; freed with the last owner.
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
