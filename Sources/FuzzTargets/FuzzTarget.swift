import JSON
import JSONSchema

/// What reads bytes from outside: each takes any bytes and must end, soon and without a trap.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// The JSON parser.
    case json
    /// The schema compiler, and the schema applied to itself.
    case compile
    /// A schema, a zero byte, and a value to be checked.
    case validate

    public func run(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .json:
            guard let document = try? JSONDocument(bytes) else { return }
            Self.visitAll(in: document)
        case .compile:
            guard let document = try? JSONDocument(bytes), let schema = Self.compiled(document) else { return }
            Self.check(document.root, SchemaValidator(schema))
        case .validate:
            guard let end = bytes.firstIndex(of: 0) else { return }
            let text = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            let value = UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...])
            guard let document = try? JSONDocument(text), let schema = Self.compiled(document),
                let instance = try? JSONDocument(value)
            else { return }
            Self.check(instance.root, SchemaValidator(schema))
        }
    }

    private static func compiled(_ document: JSONDocument) -> CompiledSchema? {
        try? CompiledSchema(document, options: SchemaOptions(assertsFormat: true))
    }

    /// Both ways of asking agree.
    private static func check(_ value: JSONValue, _ validator: SchemaValidator) {
        let isValid = validator.firstViolation(in: value) == nil
        precondition(isValid == validator.violations(in: value).isEmpty)
    }

    /// Every value is what its source says when that is read alone. Without recursion, as what it checks.
    private static func visitAll(in document: JSONDocument) {
        var waiting = [document.root]
        var left = 1000
        while let value = waiting.popLast(), left > 0 {
            left -= 1
            let alone = try? JSONDocument(value.sourceBytes)
            precondition(alone?.root.kind == value.kind && alone?.root.count == value.count)
            precondition(alone?.root.string == value.string && alone?.root.int64 == value.int64)
            precondition(document.position(of: value).offset == value.sourceRange.lowerBound)
            if value.kind == .array { waiting += value.elements }
            if value.kind == .object { waiting += value.members.map(\.value) }
        }
    }
}
