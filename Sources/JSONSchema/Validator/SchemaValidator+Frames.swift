import JSON

/// The loop over subschemas, with a stack of frames instead of recursion.
extension SchemaValidator {
    /// The cost of a frame in steps.
    private static let stepsPerFrame = 3

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
        /// The result of the frame above; nil if the instruction has not waited for a frame.
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

    /// Returns whether a violation ends the frame, because further violations would not be reported.
    @inline(__always) func stops(_ frame: EvaluationFrame) -> Bool { frame.isSpeculative || hasEnough }

    /// Begins a subschema for a value. A leaf is checked immediately. Any other subschema gets a frame. After
    /// `.waits`, pointers to frames may be invalid. `marks` means that the subschema is for the value of the top frame,
    /// and that marks are required.
    @inline(__always) func enter(_ schema: Int, _ node: Int, isSpeculative: Bool, marks: Bool = false)
        -> EvaluationOutcome
    {
        schema == anything ? .valid : begin(schema, node, isSpeculative: isSpeculative, marks: marks)
    }

    private func begin(_ schema: Int, _ node: Int, isSpeculative: Bool, marks: Bool) -> EvaluationOutcome {
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
            to: EvaluationFrame(
                schema: schema, instruction: first, node: node, isSpeculative: isSpeculative,
                tracks: marks || subschema.pointee.tracksEvaluation, keepsMarks: marks, firstMark: evaluated.count))
        if leavesTraces { scope.enter(Int(subschema.pointee.resource), depth: depth) }
        depth += 1
        return .waits
    }

    /// Removes the marks and bindings of a frame that do not apply to the frame below.
    private func leave(_ frame: EvaluationFrame) {
        scope.leave(depth: depth - 1)
        // Keep the marks after a reported violation. Without the marks, evaluated members would be reported too.
        if !frame.keepsMarks || frame.isSpeculative && !frame.isValid { evaluated.remove(from: frame.firstMark) }
    }

    private func growFrames() {
        let larger = UnsafeMutablePointer<EvaluationFrame>.allocate(capacity: frameCapacity * 2)
        larger.moveInitialize(from: frames, count: depth)
        frames.deallocate()
        frames = larger
        frameCapacity *= 2
    }

    func fail(
        _ node: Int, instruction: Int, kind: FoundViolations.Kind = .keyword, location: Int? = nil,
        names: (missing: Int, because: Int)? = nil, isSpeculative: Bool
    ) -> EvaluationOutcome {
        // If a value runs out of steps, the enclosing alternatives also fail, without a report.
        if !isSpeculative && !hasEnough {
            found.append(
                FoundViolations.Violation(
                    kind: kind, node: node, instruction: instruction, location: location, names: names,
                    conditions: conditions))
            hasEnough = found.isFull || kind == .stepsMax
        }
        return .invalid
    }

    func failForSteps(_ node: Int, instruction: Int) -> EvaluationOutcome {
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

    private func step(_ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?) -> EvaluationOutcome {
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
            if let returned { return EvaluationOutcome(returned) }
            return enter(
                schema, node, isSpeculative: frame.pointee.isSpeculative, marks: frame.pointee.tracks)
        case .dynamicCall(let reference):
            return returned.map { EvaluationOutcome($0) }
                ?? callDynamically(dynamicReferences[reference], frame.pointee)
        case .anyOf(let list):
            return anyOf(list, frame, returned)
        case .oneOf(let list):
            return oneOf(list, frame, returned)
        case .not(let schema):
            switch returned.map({ EvaluationOutcome($0) }) ?? enter(schema, node, isSpeculative: true) {
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
