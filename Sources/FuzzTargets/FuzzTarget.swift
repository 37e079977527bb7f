import JSON
import JSONSchema

/// Code that a fuzzer runs with arbitrary bytes. Each target must return soon and without a trap.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// The JSON parser.
    case json
    /// The schema compiler. The compiled schema also validates its own text.
    case compile
    /// The validator. The input is a schema, a zero byte, and an instance.
    case validate

    /// Runs the target with `bytes`. Traps if a check fails.
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

    /// Checks that `firstViolation` and `violations` agree.
    private static func check(_ value: JSONValue, _ validator: SchemaValidator) {
        let isValid = validator.firstViolation(in: value) == nil
        precondition(isValid == validator.violations(in: value).isEmpty)
    }

    /// Compares at most 1000 values with the values that a separate parse of their source text returns.
    ///
    /// Like the parser, this function does not recurse.
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
