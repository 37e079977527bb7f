import JSON

extension SchemaValidator {
    /// Checks members in one pass, and then the required names.
    func checkMembers(
        _ rule: UnsafePointer<ObjectRule>, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?
    ) -> EvaluationOutcome {
        if returned == false {
            guard !stops(frame.pointee) else { return .invalid }
            frame.pointee.isValid = false
        }
        if frame.pointee.cursor == 0 {
            frame.pointee.cursor = frame.pointee.node + 1
            stepsLeft -= Int(tape.nodes[frame.pointee.node].count) * (1 + rule.pointee.patternCount)
            guard stepsLeft > 0 else {
                return failForSteps(frame.pointee.node, instruction: frame.pointee.instruction)
            }
        }
        switch rule.pointee.isPlain ? checkNamedMembers(rule, frame) : checkAnyMembers(rule, frame) {
        case .waits: return .waits
        case .invalid: return .invalid
        case .valid:
            if frame.pointee.tracks && rule.pointee.coversAll { evaluated.markAll() }
            return checkRequired(rule, frame)
        }
    }

    /// Checks members for a rule without `patternProperties` and `propertyNames`. At most one schema applies to each
    /// member, so this path is fast.
    private func checkNamedMembers(
        _ rule: UnsafePointer<ObjectRule>, _ frame: UnsafeMutablePointer<EvaluationFrame>
    ) -> EvaluationOutcome {
        let isSpeculative = frame.pointee.isSpeculative
        let tracks = frame.pointee.tracks
        let end = Int(tape.nodes[frame.pointee.node].link)
        var key = frame.pointee.cursor
        while key < end {
            let slot = find(key, in: rule.pointee.names)
            var isDeclared = false
            var outcome = EvaluationOutcome.valid
            let next = tape.next(after: key + 1)
            if slot >= 0 {
                if slot < rule.pointee.requiredCount { frame.pointee.count += 1 }
                let property = properties[rule.pointee.firstProperty + slot]
                isDeclared = property.isDeclared
                if tracks && isDeclared { evaluated.mark(key) }
                if property.schema != anything {
                    frame.pointee.cursor = next
                    outcome = enter(property.schema, key + 1, isSpeculative: isSpeculative)
                }
            }
            if !isDeclared {
                frame.pointee.cursor = next
                outcome = checkAdditional(rule, key, frame)
            }
            switch outcome {
            case .valid: break
            case .waits: return .waits
            case .invalid:
                guard !stops(frame.pointee) else { return .invalid }
                frame.pointee.isValid = false
            }
            key = next
        }
        return .valid
    }

    /// Checks each member in steps for its name, `properties`, each pattern and additional properties. After a frame,
    /// the check resumes with the next step.
    private func checkAnyMembers(_ rule: UnsafePointer<ObjectRule>, _ frame: UnsafeMutablePointer<EvaluationFrame>)
        -> EvaluationOutcome
    {
        let isSpeculative = frame.pointee.isSpeculative
        let end = Int(tape.nodes[frame.pointee.node].link)
        let patternCount = rule.pointee.patternCount
        var outcome = EvaluationOutcome.valid
        while true {
            switch outcome {
            case .waits: return .waits
            case .valid: break
            case .invalid:
                guard !stops(frame.pointee) else { return .invalid }
                frame.pointee.isValid = false
            }
            outcome = .valid
            let key = frame.pointee.cursor
            guard key < end else { return .valid }
            let step = frame.pointee.step
            frame.pointee.step = step + 1
            switch step {
            case 0:
                outcome = enter(rule.pointee.propertyNames, key, isSpeculative: isSpeculative)
            case 1:
                let slot = find(key, in: rule.pointee.names)
                guard slot >= 0 else { continue }
                if slot < rule.pointee.requiredCount { frame.pointee.count += 1 }
                let property = properties[rule.pointee.firstProperty + slot]
                guard property.isDeclared else { continue }
                frame.pointee.isNamed = true
                if frame.pointee.tracks { evaluated.mark(key) }
                outcome = enter(property.schema, key + 1, isSpeculative: isSpeculative)
            case 2..<2 + patternCount:
                let patterned = patternProperties[rule.pointee.firstPattern + step - 2]
                switch matcher.match(patterns[patterned.pattern], tape.text(of: key)) {
                case .no: continue
                case .yes:
                    frame.pointee.isNamed = true
                    if frame.pointee.tracks { evaluated.mark(key) }
                    outcome = enter(patterned.schema, key + 1, isSpeculative: isSpeculative)
                case .gaveUp:
                    outcome = fail(
                        key, instruction: frame.pointee.instruction, kind: .patternGaveUp, isSpeculative: false)
                }
            case 2 + patternCount:
                guard !frame.pointee.isNamed else { continue }
                outcome = checkAdditional(rule, key, frame)
            default:
                frame.pointee.cursor = tape.next(after: key + 1)
                frame.pointee.step = 0
                frame.pointee.isNamed = false
            }
        }
    }

    /// Checks a member that matches neither `properties` nor `patternProperties`.
    @inline(__always) private func checkAdditional(
        _ rule: UnsafePointer<ObjectRule>, _ key: Int, _ frame: UnsafeMutablePointer<EvaluationFrame>
    ) -> EvaluationOutcome {
        guard rule.pointee.forbidsAdditional else {
            return enter(rule.pointee.additional, key + 1, isSpeculative: frame.pointee.isSpeculative)
        }
        return fail(
            key, instruction: frame.pointee.instruction, kind: .unknownProperty,
            location: rule.pointee.additionalLocation, isSpeculative: frame.pointee.isSpeculative)
    }

    /// Checks required names. Keys are unique in an object, so the number of required names found shows whether a
    /// name is missing.
    private func checkRequired(_ rule: UnsafePointer<ObjectRule>, _ frame: UnsafeMutablePointer<EvaluationFrame>)
        -> EvaluationOutcome
    {
        guard frame.pointee.count < rule.pointee.requiredCount else { return EvaluationOutcome(frame.pointee.isValid) }
        frame.pointee.isValid = false
        guard !stops(frame.pointee) else { return .invalid }
        markPresent(rule.pointee.names, in: frame.pointee.node)
        for slot in 0..<rule.pointee.requiredCount where !present.contains(slot) {
            let outcome = fail(
                frame.pointee.node, instruction: frame.pointee.instruction, kind: .required,
                location: rule.pointee.requiredLocation,
                names: (slot, slot), isSpeculative: frame.pointee.isSpeculative)
            if stops(frame.pointee) { return outcome }
        }
        return .invalid
    }

    /// Returns the slot of a string in a table of the schema; -1 if the table lacks the string. A value cannot
    /// add collisions to the table, because the table contains only the schema's strings.
    @inline(__always) func find(_ string: Int, in table: KeyTable) -> Int {
        let count = tape.nodes[string].count
        guard count <= table.longest, table.lengths >> UInt64(count & 63) & 1 == 1 else { return -1 }
        let words = tape.keyWords(of: string)
        var place = Int(truncatingIfNeeded: tape.keyHash(of: string, words)) & table.mask
        while true {
            let entry = keys[table.first + place]
            if entry.slot < 0 { return -1 }
            if entry.words == words, words.count <= 16 || isEqual(string, entry.place) { return entry.slot }
            place = (place + 1) & table.mask
        }
    }

    private func isEqual(_ string: Int, _ ownString: SchemaNode) -> Bool {
        tape.text(of: string).isSame(as: own[Int(ownString.document)].text(of: Int(ownString.node)))
    }
}
