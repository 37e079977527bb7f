public import JSON

/// A JSON Schema (2020-12) as a flat program. Compiled once, then never changed: any thread may make validators of it.
public final class CompiledSchema: @unchecked Sendable {
    // Sendable: everything is filled before the initialiser returns and never changed again; PCRE2 allows a compiled
    // pattern to be used by several threads.
    let document: JSONDocument
    let code: Table<Instruction>
    /// For each instruction the index of its keyword's location.
    let codeLocations: Table<Int>
    let subschemas: Table<Subschema>
    let lists: Table<Int>
    let objects: Table<ObjectRule>
    let properties: Table<Property>
    let patternProperties: Table<PatternProperty>
    let arrays: Table<ArrayRule>
    let dependentRules: Table<DependentRule>
    let dependents: Table<UInt64>
    let enumerations: Table<Enumeration>
    let enumerated: Table<Int>
    let keys: Table<KeyEntry>
    let patterns: Table<Pattern>
    let locations: [Location]

    /// Where the root begins in `subschemas`; or `anything`.
    let root: Int
    /// Pointers to keywords that no vocabulary knows: they decide nothing, but are often a slip of the pen.
    public let unknownKeywords: [String]

    /// Where a keyword stands in the schema.
    struct Location {
        var keyword: String
        var node: Int
    }

    struct Subschema {
        var first: Int
        /// Asserts about the value itself only.
        var isLeaf: Bool
    }

    /// References are local to the document (`#`, `#/$defs/name`). `format` is an annotation.
    public init(_ document: JSONDocument) throws(SchemaError) {
        var compiler = SchemaCompiler(document)
        try compiler.compile()
        self.document = document
        code = Table(compiler.code)
        codeLocations = Table(compiler.codeLocations)
        subschemas = Table(compiler.subschemas)
        lists = Table(compiler.lists)
        objects = Table(compiler.objects)
        properties = Table(compiler.properties)
        patternProperties = Table(compiler.patternProperties)
        arrays = Table(compiler.arrays)
        dependentRules = Table(compiler.dependentRules)
        dependents = Table(compiler.dependents)
        enumerations = Table(compiler.enumerations)
        enumerated = Table(compiler.enumerated)
        keys = Table(compiler.keys)
        patterns = Table(compiler.patterns)
        locations = compiler.locations
        root = compiler.root
        unknownKeywords = compiler.unknownKeywords
    }

    deinit {
        for index in 0..<patterns.count { patterns[index].free() }
    }
}

/// Plain values that are read without a reference count and without copying; freed with the last owner.
final class Table<Element: BitwiseCopyable> {
    let start: UnsafePointer<Element>
    let count: Int

    init(_ elements: [Element]) {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
        _ = memory.initialize(from: elements)
        start = UnsafePointer(memory.baseAddress!)
        count = elements.count
    }

    deinit { start.deallocate() }

    subscript(_ index: Int) -> Element { start[index] }
}
