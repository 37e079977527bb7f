import JSON

extension SchemaValidator {
    /// Checks dependent names. One pass marks the present names, and a second pass checks the required names.
    func checkDependents(_ rule: DependentRule, _ frame: UnsafeMutablePointer<EvaluationFrame>) -> EvaluationOutcome {
        let node = frame.pointee.node
        guard markPresent(rule.names, in: node, dependents: rule.count) else { return .valid }
        let end = Int(tape.nodes[node].link)
        var key = node + 1
        while key < end {
            let slot = find(key, in: rule.names)
            key = tape.next(after: key + 1)
            guard slot >= 0, slot < rule.count else { continue }
            let needed = needs[rule.first + slot]
            stepsLeft -= needed.count
            guard stepsLeft > 0 else { return failForSteps(node, instruction: frame.pointee.instruction) }
            for position in needed.first..<needed.first + needed.count where !present.contains(lists[position]) {
                frame.pointee.isValid = false
                let outcome = fail(
                    node, instruction: frame.pointee.instruction, kind: .dependentRequired,
                    names: (lists[position], slot), isSpeculative: frame.pointee.isSpeculative)
                if stops(frame.pointee) { return outcome }
            }
        }
        return EvaluationOutcome(frame.pointee.isValid)
    }

    /// Marks in `present` the names of a table that occur as keys of an object.
    ///
    /// - Returns: whether the object has a name whose slot is below `dependents`.
    @discardableResult
    func markPresent(_ table: KeyTable, in object: Int, dependents: Int = 0) -> Bool {
        stepsLeft -= Int(tape.nodes[object].count)
        present.begin(slotsMax: table.mask + 1)
        var hasDependent = false
        let end = Int(tape.nodes[object].link)
        var key = object + 1
        while key < end {
            let slot = find(key, in: table)
            if slot >= 0 {
                present.mark(slot)
                if slot < dependents { hasDependent = true }
            }
            key = tape.next(after: key + 1)
        }
        return hasDependent
    }

    /// Checks the object against the dependent schemas of its keys, in one pass over the members.
    func checkDependentSchemas(
        _ rule: UnsafePointer<DependentRule>, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?
    ) -> EvaluationOutcome {
        let node = frame.pointee.node
        let end = Int(tape.nodes[node].link)
        var outcome = returned.map { EvaluationOutcome($0) } ?? .valid
        if frame.pointee.cursor == 0 {
            frame.pointee.cursor = node + 1
            stepsLeft -= Int(tape.nodes[node].count)
        }
        while true {
            switch outcome {
            case .waits: return .waits
            case .valid: break
            case .invalid:
                guard !stops(frame.pointee) else { return .invalid }
                frame.pointee.isValid = false
            }
            let key = frame.pointee.cursor
            guard key < end else { return EvaluationOutcome(frame.pointee.isValid) }
            frame.pointee.cursor = tape.next(after: key + 1)
            let slot = find(key, in: rule.pointee.names)
            outcome =
                slot < 0
                ? .valid
                : enter(
                    lists[rule.pointee.first + slot], node, isSpeculative: frame.pointee.isSpeculative,
                    marks: frame.pointee.tracks)
        }
    }
}
