// Applicators to the same value. Each is called again with what the schema that it waited for came to.
extension SchemaValidator {
    func anyOf(_ list: SchemaList, _ frame: UnsafeMutablePointer<Frame>, _ returned: Bool?) -> Outcome {
        if let returned {
            if returned { return .valid }
            frame.pointee.step += 1
        }
        let node = frame.pointee.node
        while frame.pointee.step < list.count {
            switch enter(lists[list.first + frame.pointee.step], node, isSpeculative: true) {
            case .valid: return .valid
            case .waits: return .waits
            case .invalid: frame.pointee.step += 1
            }
        }
        return fail(node, instruction: frame.pointee.instruction, isSpeculative: frame.pointee.isSpeculative)
    }

    func oneOf(_ list: SchemaList, _ frame: UnsafeMutablePointer<Frame>, _ returned: Bool?) -> Outcome {
        var returned = returned
        let node = frame.pointee.node
        while true {
            if let matched = returned {
                frame.pointee.bits += matched ? 1 : 0
                frame.pointee.step += 1
                if frame.pointee.bits > 1 { break }
            }
            guard frame.pointee.step < list.count else { break }
            switch enter(lists[list.first + frame.pointee.step], node, isSpeculative: true) {
            case .valid: returned = true
            case .invalid: returned = false
            case .waits: return .waits
            }
        }
        guard frame.pointee.bits != 1 else { return .valid }
        return fail(node, instruction: frame.pointee.instruction, isSpeculative: frame.pointee.isSpeculative)
    }

    func choose(_ conditional: Conditional, _ frame: UnsafeMutablePointer<Frame>, _ returned: Bool?) -> Outcome {
        let node = frame.pointee.node
        var condition: Bool
        switch (frame.pointee.step, returned) {
        case (0, nil):
            switch enter(conditional.condition, node, isSpeculative: true) {
            case .valid: condition = true
            case .invalid: condition = false
            case .waits: return .waits
            }
        case (0, let returned?):
            condition = returned
        case (_, let returned):
            return returned ?? true ? .valid : .invalid
        }
        frame.pointee.step = 1
        let schema = condition ? conditional.then : conditional.otherwise
        return enter(schema, node, isSpeculative: frame.pointee.isSpeculative)
    }
}
