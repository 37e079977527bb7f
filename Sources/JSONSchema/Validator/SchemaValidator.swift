public import JSON

/// A validator of values against one schema, with its own memory. Create one validator per thread. Each lane has its
/// own. Valid values need no allocation once the memory has grown to their size.
public final class SchemaValidator {
    let schema: CompiledSchema
    // Pointers to the schema's tables. Access through `schema` would need its reference count, for which all lanes
    // would contend.
    let code: UnsafePointer<Instruction>
    let subschemas: UnsafePointer<CompiledSchema.Subschema>
    let lists: UnsafePointer<Int>
    let objects: UnsafePointer<ObjectRule>
    let properties: UnsafePointer<Property>
    let patternProperties: UnsafePointer<PatternProperty>
    let arrays: UnsafePointer<ArrayRule>
    let containments: UnsafePointer<ContainsRule>
    let dependentRules: UnsafePointer<DependentRule>
    let needs: UnsafePointer<NeededNames>
    let enumerations: UnsafePointer<Enumeration>
    let enumeratedNumbers: UnsafePointer<NumberBound>
    let enumerated: UnsafePointer<SchemaNode>
    let keys: UnsafePointer<KeyEntry>
    let patterns: UnsafePointer<Pattern>
    let dynamicReferences: UnsafePointer<DynamicReference>
    /// The tapes of the schema's documents.
    let own: UnsafePointer<JSONTapeView>

    let matcher = PatternMatcher()
    let unique = UniqueElements()
    let comparison = ValueComparison()
    var scope: DynamicScope
    var evaluated = EvaluatedMarks()
    var present = PresentNames()
    /// Whether frames leave marks or dynamic bindings.
    let leavesTraces: Bool
    private let root: Int
    private let isPlain: Bool

    /// The tape of the checked value.
    var tape: JSONTapeView
    /// The number of nodes on the tape.
    var nodeCount = 0
    var found = FoundViolations()
    /// Whether the search for violations has ended, because it has found the maximum or has exceeded the steps.
    var hasEnough = false
    /// The remaining steps for this value.
    var stepsLeft = 0

    /// Steps for each checked value, roughly 10 ns each. A check that needs more steps is a violation with the keyword
    /// `stepsMax`. Without the limit, a schema that refers to itself twice could double the work with each level of the
    /// value. Dozens of alternatives could each scan a large value.
    public static let stepsBase = 250_000
    /// Additional steps for each node on the tape, which is a value or a key.
    public static let stepsPerValue = 1
    private let stepsPerValue: Int

    var frames: UnsafeMutablePointer<EvaluationFrame>
    var frameCapacity = 64
    var depth = 0

    /// Creates a validator of values against one schema.
    ///
    /// - Parameter stepsPerValue: a larger number permits complex checks of large, trusted documents.
    public init(_ schema: CompiledSchema, stepsPerValue: Int = SchemaValidator.stepsPerValue) {
        self.schema = schema
        self.stepsPerValue = stepsPerValue
        code = schema.code.start
        subschemas = schema.subschemas.start
        lists = schema.lists.start
        objects = schema.objects.start
        properties = schema.properties.start
        patternProperties = schema.patternProperties.start
        arrays = schema.arrays.start
        containments = schema.containments.start
        dependentRules = schema.dependentRules.start
        needs = schema.needs.start
        enumerations = schema.enumerations.start
        enumeratedNumbers = schema.enumeratedNumbers.start
        enumerated = schema.enumerated.start
        keys = schema.keys.start
        patterns = schema.patterns.start
        dynamicReferences = schema.dynamicReferences.start
        own = schema.tapes.start
        tape = own[0]
        scope = DynamicScope(schema)
        leavesTraces = schema.tracksEvaluation || schema.dynamicNameCount > 0
        root = schema.root
        isPlain = schema.isPlain
        frames = .allocate(capacity: frameCapacity)
    }

    deinit { frames.deallocate() }

    /// Returns the first violation; nil if the value is valid.
    public func firstViolation(in value: JSONValue) -> SchemaViolation? {
        guard !isPlainlyValid(value) else { return nil }
        found.max = 1
        guard !check(value) else { return nil }
        return describe(in: value).first
    }

    /// Returns all violations, at most `max`.
    public func violations(in value: JSONValue, max: Int = 100) -> [SchemaViolation] {
        found.max = Swift.max(max, 2)
        guard !check(value) else { return [] }
        return Array(describe(in: value).prefix(max))
    }

    /// Returns whether the fast path finds the value valid; false decides nothing.
    func isPlainlyValid(_ value: JSONValue) -> Bool {
        guard root != anything else { return true }
        guard isPlain else { return false }
        begin(value, share: Self.plainShare)
        // A check that gave up has added a violation or used up the steps.
        return holds(root, value.index, depth: 0) && stepsLeft > 0 && found.list.isEmpty
    }

    func check(_ value: JSONValue) -> Bool {
        guard root != anything else { return true }
        begin(value)
        let isValid = run(root, value.index)
        // A value whose check gave up is not valid, even below a negation.
        return isValid && found.list.isEmpty
    }

    /// Prepares the check of a value.
    ///
    /// - Parameter share: the divisor of the available steps and pattern effort.
    private func begin(_ value: JSONValue, share: Int = 1) {
        let memory = value.tape
        tape = memory.view
        nodeCount = memory.nodeCount
        if !found.list.isEmpty { found.removeAll() }
        hasEnough = false
        stepsLeft = (Self.stepsBase + nodeCount * stepsPerValue) / share
        matcher.begin(bytes: tape.source(of: value.index).count, share: share)
        unique.begin()
    }

    private func describe(in value: JSONValue) -> [SchemaViolation] {
        var text = ViolationText(schema: schema, instance: value.tape)
        return text.violations(withReasons(found.list))
    }
}
