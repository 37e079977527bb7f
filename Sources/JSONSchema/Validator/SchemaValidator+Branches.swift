/// Instructions that apply subschemas to the same value. The function of an instruction is called again with the result
/// of the subschema that it has waited for.
extension SchemaValidator {
    func anyOf(_ list: SchemaList, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?)
        -> EvaluationOutcome
    {
        let node = frame.pointee.node
        // If evaluation is tracked, check all alternatives, because each match may mark other members or elements.
        let tracks = frame.pointee.tracks
        var outcome = returned.map { EvaluationOutcome($0) }
        while true {
            switch outcome {
            case .waits: return .waits
            case .valid:
                guard tracks else { return .valid }
                frame.pointee.count = 1
                frame.pointee.step += 1
            case .invalid: frame.pointee.step += 1
            case nil: break
            }
            guard frame.pointee.step < list.count else { break }
            outcome = enter(lists[list.first + frame.pointee.step], node, isSpeculative: true, marks: tracks)
        }
        return frame.pointee.count == 1 ? .valid : failAlternatives(frame)
    }

    func oneOf(_ list: SchemaList, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?)
        -> EvaluationOutcome
    {
        var returned = returned
        let node = frame.pointee.node
        while true {
            if let matched = returned {
                frame.pointee.count += matched ? 1 : 0
                frame.pointee.step += 1
                if frame.pointee.count > 1 { break }
            }
            guard frame.pointee.step < list.count else { break }
            switch enter(lists[list.first + frame.pointee.step], node, isSpeculative: true, marks: frame.pointee.tracks)
            {
            case .valid: returned = true
            case .invalid: returned = false
            case .waits: return .waits
            }
        }
        return frame.pointee.count == 1 ? .valid : failAlternatives(frame)
    }

    /// Fails. If evaluation is tracked, marks all members and elements as evaluated. The members and elements that a
    /// valid alternative would mark are unknown.
    private func failAlternatives(_ frame: UnsafeMutablePointer<EvaluationFrame>) -> EvaluationOutcome {
        if frame.pointee.tracks { evaluated.markAll() }
        return fail(
            frame.pointee.node, instruction: frame.pointee.instruction, isSpeculative: frame.pointee.isSpeculative)
    }

    func choose(_ conditional: Conditional, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?)
        -> EvaluationOutcome
    {
        let node = frame.pointee.node
        let tracks = frame.pointee.tracks
        guard tracks || conditional.then != anything || conditional.otherwise != anything else { return .valid }
        var condition: Bool
        switch (frame.pointee.step, returned) {
        case (0, nil):
            switch enter(conditional.condition, node, isSpeculative: true, marks: tracks) {
            case .valid: condition = true
            case .invalid: condition = false
            case .waits: return .waits
            }
        case (0, let returned?):
            condition = returned
        case (_, let returned):
            return EvaluationOutcome(returned ?? true)
        }
        frame.pointee.step = condition ? Self.stepThen : Self.stepElse
        let schema = condition ? conditional.then : conditional.otherwise
        return enter(schema, node, isSpeculative: frame.pointee.isSpeculative, marks: tracks)
    }
}
