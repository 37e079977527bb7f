public import JSON

/// Checks values against one schema, in its own memory: make one for each thread (a lane has its own). Nothing is
/// allocated for a value that is valid, once the memory has grown to the size of the values.
public final class SchemaValidator {
    let schema: CompiledSchema
    // The schema's tables, without touching its reference count, which all lanes would contend for.
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
    /// The schema's own values.
    let own: UnsafePointer<JSONTapeView>

    let matcher = PatternMatcher()
    let unique = UniqueElements()
    let comparison = ValueComparison()
    var scope: DynamicScope
    var evaluated = EvaluatedMarks()
    var present = PresentNames()
    /// Frames leave something behind: marks, or names of the dynamic scope.
    let leavesTraces: Bool
    private let root: Int
    private let isPlain: Bool

    /// The tape of the value that is being checked.
    var tape: JSONTapeView
    /// How many nodes it has.
    var nodeCount = 0
    var found = FoundViolations()
    /// No further violation would be told.
    var hasEnough = false
    /// What may still be done for this value.
    var stepsLeft = 0

    /// Steps for one value, roughly 10 ns each: subschemas entered and what they pass over. More are a violation with
    /// the keyword `stepsMax`. A schema that refers to itself twice could otherwise double the work with each level of
    /// the value, and some dozen alternatives could each go through a large one.
    public static let stepsBase = 250_000
    /// More of them for each value inside of the value.
    public static let stepsPerValue = 1
    private let stepsPerValue: Int

    var frames: UnsafeMutablePointer<EvaluationFrame>
    var frameCapacity = 64
    var depth = 0

    /// - Parameter stepsPerValue: more than usual for documents that are large for good reasons, of people who can wait.
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

    /// The first rule that the value breaks; nil when it is valid.
    public func firstViolation(in value: JSONValue) -> SchemaViolation? {
        guard !isPlainlyValid(value) else { return nil }
        found.max = 1
        guard !check(value) else { return nil }
        return describe(in: value).first
    }

    /// All rules that the value breaks, `max` at most.
    public func violations(in value: JSONValue, max: Int = 100) -> [SchemaViolation] {
        found.max = Swift.max(max, 2)
        guard !check(value) else { return [] }
        return Array(describe(in: value).prefix(max))
    }

    /// Whether the value is valid, as far as that can be told in a simple way; false says nothing.
    func isPlainlyValid(_ value: JSONValue) -> Bool {
        guard root != anything else { return true }
        guard isPlain else { return false }
        begin(value, share: Self.plainShare)
        // What could not be checked to its end is in the list, or has used up the steps.
        return holds(root, value.index, depth: 0) && stepsLeft > 0 && found.list.isEmpty
    }

    func check(_ value: JSONValue) -> Bool {
        guard root != anything else { return true }
        begin(value)
        let isValid = run(root, value.index)
        // What could not be checked to its end is not valid, even below a negation.
        return isValid && found.list.isEmpty
    }

    /// `share`: the part of the steps and of the patterns' effort that may be used.
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
