package import AMQP
package import JSON

extension DeadLetter {
    /// Returns the value of a filter's field.
    ///
    /// - Parameter root: root of the body; nil if the body is not JSON.
    package func value(
        of field: FilterField, headers: FieldTable?, root: JSONValue?, nowUnixMilliseconds: Int64
    ) -> FilterValue {
        switch field {
        case .known(let field): value(of: field, nowUnixMilliseconds)
        case .header(let name): headers?[name].map { FilterValue($0) } ?? .missing
        case .body(let steps): root?.at(steps).map { FilterValue($0) } ?? .missing
        }
    }

    private func value(of field: FilterField.Known, _ nowUnixMilliseconds: Int64) -> FilterValue {
        switch field {
        case .id: .text(id)
        case .class: .text(failureClass)
        case .code: .text(code)
        case .app: FilterValue(app)
        case .schema: FilterValue(schema)
        case .outcome: FilterValue(outcome)
        case .reason: FilterValue(reason)
        case .path: FilterValue(path)
        case .queue: FilterValue(queue)
        case .token: FilterValue(deviceToken)
        case .status: status.map { .number(Double($0)) } ?? .missing
        case .attempts: attempts.map { .number(Double($0)) } ?? .missing
        case .bytes: .number(Double(bodyBytes))
        case .failedAt: failedAt.map { .number(Double($0)) } ?? .missing
        case .age: ageMilliseconds(at: nowUnixMilliseconds).map { .milliseconds(Double($0)) } ?? .missing
        }
    }
}

extension FilterValue {
    init(_ text: String?) { self = text.map { .text($0) } ?? .missing }

    init(_ value: FieldValue) {
        self =
            switch value {
            case .string(let text): .text(text)
            case .integer(let number): .number(Double(number))
            case .double(let number): .number(number)
            case .decimal: Double(MessageLine.decimal(value)).map { .number($0) } ?? .other
            case .timestamp(let seconds): .number(Double(seconds))
            case .boolean(let flag): .boolean(flag)
            case .void: .missing
            case .bytes, .table, .array, .unreadable: .other
            }
    }

    init(_ value: JSONValue) {
        self =
            switch value.kind {
            case .string: .text(value.string ?? "")
            case .number: value.double.map { .number($0) } ?? .other
            case .boolean: .boolean(value.bool ?? false)
            case .null: .missing
            case .object, .array: .other
            }
    }
}

extension JSONValue {
    fileprivate func at(_ steps: [FilterField.Step]) -> JSONValue? {
        var value = self
        for step in steps {
            let next: JSONValue?
            switch step {
            case .name(let name): next = value[key: name]
            case .index(let index):
                guard value.kind == .array, index < value.count else { return nil }
                next = value.elements.dropFirst(index).first { _ in true }
            }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}
