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
    private let leavesTraces: Bool

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
    /// What it costs to come back to a subschema.
    private static let stepsPerFrame = 3

    var frames: UnsafeMutablePointer<Frame>
    private var frameCapacity = 64
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
        frames = .allocate(capacity: frameCapacity)
    }

    deinit { frames.deallocate() }

    /// The first rule that the value breaks; nil when it is valid.
    public func firstViolation(in value: JSONValue) -> SchemaViolation? {
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

    private func check(_ value: JSONValue) -> Bool {
        guard schema.root != anything else { return true }
        tape = value.tape.view
        nodeCount = value.tape.nodeCount
        if !found.list.isEmpty { found.removeAll() }
        hasEnough = false
        stepsLeft = Self.stepsBase + nodeCount * stepsPerValue
        matcher.begin(bytes: tape.source(of: value.index).count)
        unique.begin()
        let isValid = run(schema.root, value.index)
        // What could not be checked to its end is not valid, even below a negation.
        return isValid && found.list.isEmpty
    }

    private func describe(in value: JSONValue) -> [SchemaViolation] {
        var text = ViolationText(schema: schema, instance: value.tape)
        return text.violations(withReasons(found.list))
    }
}

/// A subschema with applicators that is being checked for a value.
struct Frame {
    var schema: Int
    var instruction: Int
    var node: Int
    /// Nothing outside learns why it failed: it is an alternative, a condition or a negation.
    var isSpeculative: Bool
    /// Somebody asks which members or elements are evaluated here.
    var tracks: Bool
    /// What is evaluated here is so for the frame below as well.
    var keepsMarks: Bool
    var isValid = true
    /// The marks of this frame begin here.
    var firstMark: Int

    // Where the current instruction is.
    var cursor = 0
    var step = 0
    var count = 0
    var isNamed = false

    mutating func next() {
        instruction += 1
        cursor = 0
        step = 0
        count = 0
        isNamed = false
    }
}

/// What an instruction came to.
enum Outcome {
    case valid
    case invalid
    /// A frame was pushed; the instruction goes on when it is done.
    case waits

    @inline(__always) init(_ isValid: Bool) { self = isValid ? .valid : .invalid }
}

extension SchemaValidator {
    func run(_ schema: Int, _ node: Int) -> Bool {
        depth = 0
        if leavesTraces {
            scope.begin()
            evaluated.begin()
        }
        switch enter(schema, node, isSpeculative: false) {
        case .valid: return true
        case .invalid: return false
        case .waits: break
        }
        /// What the frame above came to, for the instruction that waits for it.
        var returned: Bool?
        while true {
            let frame = frames + (depth - 1)
            if case .end = code[frame.pointee.instruction] {
                returned = frame.pointee.isValid
            } else {
                switch step(frame, returned) {
                case .valid:
                    frame.pointee.next()
                    returned = nil
                    continue
                case .waits:
                    returned = nil
                    continue
                case .invalid:
                    frame.pointee.isValid = false
                    guard stops(frame.pointee) else {
                        frame.pointee.next()
                        returned = nil
                        continue
                    }
                    returned = false
                }
            }
            if leavesTraces { leave(frame.pointee) }
            depth -= 1
            if depth == 0 { return returned ?? true }
        }
    }

    /// Whether a frame ends with its first violation: no other one would be told.
    @inline(__always) func stops(_ frame: Frame) -> Bool { frame.isSpeculative || hasEnough }

    /// Begins a subschema for a value: a leaf is done at once, another gets a frame. When it waits, pointers to frames
    /// are stale. `marks`: it is for the same value as its frame's, where somebody asks what is evaluated.
    @inline(__always) func enter(_ schema: Int, _ node: Int, isSpeculative: Bool, marks: Bool = false) -> Outcome {
        schema == anything ? .valid : begin(schema, node, isSpeculative: isSpeculative, marks: marks)
    }

    private func begin(_ schema: Int, _ node: Int, isSpeculative: Bool, marks: Bool) -> Outcome {
        let subschema = subschemas + schema
        let first = Int(subschema.pointee.first)
        guard stepsLeft > 0 else { return failForSteps(node, instruction: first) }
        guard !subschema.pointee.isLeaf else {
            stepsLeft -= 1
            return checkLeaf(first, node, isSpeculative: isSpeculative) ? .valid : .invalid
        }
        stepsLeft -= Self.stepsPerFrame
        if depth == frameCapacity { growFrames() }
        (frames + depth).initialize(
            to: Frame(
                schema: schema, instruction: first, node: node, isSpeculative: isSpeculative,
                tracks: marks || subschema.pointee.tracksEvaluation, keepsMarks: marks, firstMark: evaluated.count))
        if leavesTraces { scope.enter(Int(subschema.pointee.resource), depth: depth) }
        depth += 1
        return .waits
    }

    /// Takes back what a frame said of its value, where that is not for the frame below.
    private func leave(_ frame: Frame) {
        scope.leave(depth: depth - 1)
        // A violation that is told makes the whole value invalid: its marks then only save others from being told.
        if !frame.keepsMarks || frame.isSpeculative && !frame.isValid { evaluated.remove(from: frame.firstMark) }
    }

    private func growFrames() {
        let larger = UnsafeMutablePointer<Frame>.allocate(capacity: frameCapacity * 2)
        larger.moveInitialize(from: frames, count: depth)
        frames.deallocate()
        frames = larger
        frameCapacity *= 2
    }

    func fail(
        _ node: Int, instruction: Int, kind: FoundViolations.Kind = .keyword, location: Int? = nil,
        names: (missing: Int, because: Int)? = nil, isSpeculative: Bool
    ) -> Outcome {
        // Alternatives that wait for what ran out of steps still fail, which is nothing to tell.
        if !isSpeculative && !hasEnough {
            found.append(
                FoundViolations.Violation(
                    kind: kind, node: node, instruction: instruction, location: location, names: names,
                    conditions: conditions))
            hasEnough = found.isFull || kind == .stepsMax
        }
        return .invalid
    }

    func failForSteps(_ node: Int, instruction: Int) -> Outcome {
        fail(node, instruction: instruction, kind: .stepsMax, isSpeculative: false)
    }

    private func checkLeaf(_ first: Int, _ node: Int, isSpeculative: Bool) -> Bool {
        var instruction = first
        var isValid = true
        while true {
            if case .end = code[instruction] { return isValid }
            if case .invalid = checkAssertion(instruction, node, isSpeculative: isSpeculative) {
                isValid = false
                if isSpeculative || hasEnough { return false }
            }
            instruction += 1
        }
    }

    private func step(_ frame: UnsafeMutablePointer<Frame>, _ returned: Bool?) -> Outcome {
        let instruction = frame.pointee.instruction
        let node = frame.pointee.node
        switch code[instruction] {
        case .object(let rule):
            return tape.nodes[node].kind == .object ? checkMembers(objects + rule, frame, returned) : .valid
        case .array(let rule):
            return tape.nodes[node].kind == .array ? checkElements(arrays + rule, frame, returned) : .valid
        case .contains(let rule):
            return tape.nodes[node].kind == .array ? checkContains(containments + rule, frame, returned) : .valid
        case .dependentRequired(let rule):
            return tape.nodes[node].kind == .object ? checkDependents(dependentRules[rule], frame) : .valid
        case .dependentSchemas(let rule):
            return tape.nodes[node].kind == .object
                ? checkDependentSchemas(dependentRules + rule, frame, returned) : .valid
        case .unevaluatedProperties(let schema):
            return tape.nodes[node].kind == .object ? checkUnevaluatedMembers(schema, frame, returned) : .valid
        case .unevaluatedItems(let schema):
            return tape.nodes[node].kind == .array ? checkUnevaluatedElements(schema, frame, returned) : .valid
        case .call(let schema):
            if let returned { return Outcome(returned) }
            return enter(
                schema, node, isSpeculative: frame.pointee.isSpeculative, marks: frame.pointee.tracks)
        case .dynamicCall(let reference):
            return returned.map { Outcome($0) } ?? callDynamically(dynamicReferences[reference], frame.pointee)
        case .anyOf(let list):
            return anyOf(list, frame, returned)
        case .oneOf(let list):
            return oneOf(list, frame, returned)
        case .not(let schema):
            switch returned.map({ Outcome($0) }) ?? enter(schema, node, isSpeculative: true) {
            case .valid: return fail(node, instruction: instruction, isSpeculative: frame.pointee.isSpeculative)
            case .invalid: return .valid
            case .waits: return .waits
            }
        case .conditional(let conditional):
            return choose(conditional, frame, returned)
        default:
            return checkAssertion(instruction, node, isSpeculative: frame.pointee.isSpeculative)
        }
    }
}
