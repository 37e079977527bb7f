import JSON

/// The checks of `unevaluatedProperties` and `unevaluatedItems`, the last instructions of a schema.
extension SchemaValidator {
    func checkUnevaluatedMembers(
        _ schema: Int, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?
    ) -> EvaluationOutcome {
        let node = frame.pointee.node
        let end = Int(tape.nodes[node].link)
        if frame.pointee.cursor == 0 {
            stepsLeft -= Int(tape.nodes[node].count) + (evaluated.count - frame.pointee.firstMark)
            guard case .some(_, let query) = evaluated.ask(from: frame.pointee.firstMark, nodeCount: nodeCount)
            else { return .valid }
            frame.pointee.count = Int(query)
            frame.pointee.cursor = node + 1
        }
        let query = UInt32(truncatingIfNeeded: frame.pointee.count)
        let forbids = schema != anything && isNever(schema)
        var outcome = returned.map { EvaluationOutcome($0) } ?? .valid
        while true {
            switch outcome {
            case .waits: return .waits
            case .valid: break
            case .invalid:
                guard !stops(frame.pointee) else { return .invalid }
                frame.pointee.isValid = false
            }
            let key = frame.pointee.cursor
            guard schema != anything, key < end else { break }
            frame.pointee.cursor = tape.next(after: key + 1)
            if evaluated.contains(key, query) {
                outcome = .valid
            } else if forbids {
                outcome = fail(
                    key, instruction: frame.pointee.instruction, kind: .unknownProperty,
                    isSpeculative: frame.pointee.isSpeculative)
            } else {
                outcome = enter(schema, key + 1, isSpeculative: frame.pointee.isSpeculative)
            }
        }
        evaluated.markAll()
        return EvaluationOutcome(frame.pointee.isValid)
    }

    func checkUnevaluatedElements(
        _ schema: Int, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?
    ) -> EvaluationOutcome {
        let node = frame.pointee.node
        let end = Int(tape.nodes[node].link)
        if frame.pointee.cursor == 0 {
            stepsLeft -= Int(tape.nodes[node].count) + (evaluated.count - frame.pointee.firstMark)
            guard
                case .some(let prefix, let query) = evaluated.ask(
                    from: frame.pointee.firstMark, nodeCount: nodeCount)
            else { return .valid }
            frame.pointee.count = Int(query)
            frame.pointee.cursor = node + 1
            for _ in 0..<prefix where frame.pointee.cursor < end {
                frame.pointee.cursor = tape.next(after: frame.pointee.cursor)
            }
        }
        let query = UInt32(truncatingIfNeeded: frame.pointee.count)
        var outcome = returned.map { EvaluationOutcome($0) } ?? .valid
        while true {
            switch outcome {
            case .waits: return .waits
            case .valid: break
            case .invalid:
                guard !stops(frame.pointee) else { return .invalid }
                frame.pointee.isValid = false
            }
            let element = frame.pointee.cursor
            guard schema != anything, element < end else { break }
            frame.pointee.cursor = tape.next(after: element)
            outcome =
                evaluated.contains(element, query)
                ? .valid : enter(schema, element, isSpeculative: frame.pointee.isSpeculative)
        }
        evaluated.markAll()
        return EvaluationOutcome(frame.pointee.isValid)
    }

    private func isNever(_ schema: Int) -> Bool {
        if case .never = code[Int(subschemas[schema].first)] { return true }
        return false
    }
}
