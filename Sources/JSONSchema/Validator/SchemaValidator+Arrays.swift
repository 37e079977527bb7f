import JSON

extension SchemaValidator {
    func checkElements(
        _ rule: UnsafePointer<ArrayRule>, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?
    ) -> EvaluationOutcome {
        let array = frame.pointee.node
        let end = Int(tape.nodes[array].link)
        let prefix = rule.pointee.prefix
        var outcome = returned.map { EvaluationOutcome($0) } ?? .valid
        if frame.pointee.cursor == 0 { frame.pointee.cursor = array + 1 }
        while true {
            switch outcome {
            case .waits: return .waits
            case .valid: break
            case .invalid:
                guard !stops(frame.pointee) else { return .invalid }
                frame.pointee.isValid = false
            }
            let element = frame.pointee.cursor
            let position = frame.pointee.step
            guard element < end, position < prefix.count || rule.pointee.items != anything else { break }
            frame.pointee.step = position + 1
            frame.pointee.cursor = tape.next(after: element)
            let schema = position < prefix.count ? lists[prefix.first + position] : rule.pointee.items
            outcome = enter(schema, element, isSpeculative: frame.pointee.isSpeculative)
        }
        if frame.pointee.tracks {
            if rule.pointee.coversAll { evaluated.markAll() } else { evaluated.mark(first: prefix.count) }
        }
        return EvaluationOutcome(frame.pointee.isValid)
    }

    /// Counts the matching elements. Stops at the minimum if there is no maximum and no element must be marked. Stops
    /// above the maximum.
    func checkContains(
        _ rule: UnsafePointer<ContainsRule>, _ frame: UnsafeMutablePointer<EvaluationFrame>, _ returned: Bool?
    ) -> EvaluationOutcome {
        let array = frame.pointee.node
        let end = Int(tape.nodes[array].link)
        let marks = frame.pointee.tracks && rule.pointee.evaluates
        if frame.pointee.cursor == 0 {
            frame.pointee.cursor = array + 1
            stepsLeft -= Int(tape.nodes[array].count)
            guard stepsLeft > 0 else { return failForSteps(array, instruction: frame.pointee.instruction) }
        }
        var outcome = returned.map { EvaluationOutcome($0) }
        while true {
            switch outcome {
            case .waits: return .waits
            case .valid:
                frame.pointee.count += 1
                if marks { evaluated.mark(frame.pointee.cursor) }
                frame.pointee.cursor = tape.next(after: frame.pointee.cursor)
            case .invalid:
                frame.pointee.cursor = tape.next(after: frame.pointee.cursor)
            case nil: break
            }
            let count = frame.pointee.count
            guard count <= rule.pointee.countMax else {
                return failContains(frame, rule.pointee.maxLocation)
            }
            if !marks, rule.pointee.countMax == .max, count >= rule.pointee.countMin { return .valid }
            guard frame.pointee.cursor < end else {
                return count >= rule.pointee.countMin ? .valid : failContains(frame, rule.pointee.minLocation)
            }
            outcome = enter(rule.pointee.schema, frame.pointee.cursor, isSpeculative: true)
        }
    }

    private func failContains(_ frame: UnsafeMutablePointer<EvaluationFrame>, _ location: Int) -> EvaluationOutcome {
        fail(
            frame.pointee.node, instruction: frame.pointee.instruction, location: location,
            isSpeculative: frame.pointee.isSpeculative)
    }
}
