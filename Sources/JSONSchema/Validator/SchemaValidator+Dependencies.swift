import JSON

extension SchemaValidator {
    func checkDependents(_ rule: DependentRule, _ frame: Frame) -> Outcome {
        var present: UInt64 = 0
        var key = frame.node + 1
        let end = Int(tape.nodes[frame.node].link)
        while key < end {
            let slot = find(key, in: rule.names)
            if slot >= 0 { present |= 1 << UInt64(slot) }
            key = tape.next(after: key + 1)
        }
        var left = present
        while left != 0 {
            let slot = left.trailingZeroBitCount
            left &= left - 1
            let missing = dependents[rule.first + slot] & ~present
            guard missing == 0 else {
                return fail(
                    frame.node, instruction: frame.instruction, kind: .dependentRequired,
                    names: (missing.trailingZeroBitCount, slot), isSpeculative: frame.isSpeculative)
            }
        }
        return .valid
    }

    /// One pass over the members; those that a schema depends on are checked, in place.
    func checkDependentSchemas(
        _ rule: UnsafePointer<DependentRule>, _ frame: UnsafeMutablePointer<Frame>, _ returned: Bool?
    ) -> Outcome {
        let node = frame.pointee.node
        let end = Int(tape.nodes[node].link)
        var outcome = returned.map { Outcome($0) } ?? .valid
        if frame.pointee.cursor == 0 { frame.pointee.cursor = node + 1 }
        while true {
            switch outcome {
            case .waits: return .waits
            case .valid: break
            case .invalid:
                guard !stops(frame.pointee) else { return .invalid }
                frame.pointee.isValid = false
            }
            let key = frame.pointee.cursor
            guard key < end else { return Outcome(frame.pointee.isValid) }
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
