package import Configuration
import Delivery
package import JSON
package import JSONSchema

/// A check of documents against a schema. All documents share the validator's memory.
package struct DocumentCheck {
    /// The number of steps that each value and each key adds to the step limit. It is higher than in a worker, so that
    /// large documents can be checked.
    private static let stepsPerValue = 8
    /// Limits of documents that are not requests. Requests have their own limits.
    private static let documentLimits = JSONLimits(bytesMax: 64 << 20, depthMax: 100_000)

    package let limits: JSONLimits
    private let validator: SchemaValidator
    /// Whether documents are requests, which also have limits that no schema can express.
    private let isOfMessages: Bool
    /// Rules of the configuration; nil to check only the contract.
    private let rules: RequestRules?
    private let checker: RequestChecker?
    private let errorsMax: Int

    package init(_ schema: CompiledSchema, isOfMessages: Bool, _ rules: RequestRules? = nil, errorsMax: Int) {
        limits =
            isOfMessages
            ? rules.map { JSONLimits(bytesMax: $0.messageBytesMax) } ?? JSONLimits() : Self.documentLimits
        self.rules = rules
        checker = rules?.checker
        validator = SchemaValidator(schema, stepsPerValue: Self.stepsPerValue)
        self.isOfMessages = isOfMessages
        self.errorsMax = errorsMax
    }

    package func result(of text: [UInt8]) -> ValidationResult {
        let document: JSONDocument
        do {
            document = try JSONDocument(text, limits: limits)
        } catch {
            guard let rules, error.code == .size else { return ValidationResult(errors: [.json(error)]) }
            let sentence = "The body has more than the \(rules.messageBytesMax) bytes of limits.message_bytes_max."
            return ValidationResult(errors: [
                .violation(RequestViolation(.size, "message_bytes", sentence), error.position)
            ])
        }
        let root = isOfMessages ? CloudEvent.request(in: document.root) : document.root
        var result = result(of: root, document)
        if result.isValid { result = workersResult(of: text, root, document) }
        if isOfMessages {
            result.warnings = UnknownApsKey.all(in: root).map {
                .init(key: $0, position: document.position(ofNode: $0.nodeIndex))
            }
        }
        return result
    }

    private func result(of root: JSONValue, _ document: JSONDocument) -> ValidationResult {
        let violations =
            errorsMax == 1
            ? validator.firstViolation(in: root).map { [$0] } ?? []
            : validator.violations(in: root, max: errorsMax + 1)
        guard violations.isEmpty else {
            return result(isOfMessages ? violations.map { CloudEvent.explained($0, in: root) } : violations, document)
        }
        guard isOfMessages, let violation = MessageLimits.violation(of: root) else { return ValidationResult() }
        let place = violation.path.flatMap { root.at(pointer: $0) } ?? root
        return ValidationResult(errors: [.violation(violation, document.position(of: place))])
    }

    /// Returns the mistakes that a worker with this configuration would find in a request that the contract allows.
    private func workersResult(of text: [UInt8], _ root: JSONValue, _ document: JSONDocument) -> ValidationResult {
        guard let rules, let violation = checker?.violation(of: text) else { return ValidationResult() }
        if violation.violationClass == .schema, let payload = root["payload"],
            let schema = root["app"]?.string.flatMap({ rules.payloadSchema(ofApp: $0) })
        {
            let violations = SchemaValidator(schema, stepsPerValue: Self.stepsPerValue)
                .violations(in: payload, max: errorsMax + 1)
            if !violations.isEmpty { return result(violations, document) }
        }
        let place = violation.path.flatMap { document.root.at(pointer: $0) } ?? root
        return ValidationResult(errors: [.violation(violation, document.position(of: place))])
    }

    private func result(_ violations: [SchemaViolation], _ document: JSONDocument) -> ValidationResult {
        let reported = violations.prefix(errorsMax)
        let positions = document.positions(ofNodes: reported.map(\.nodeIndex))
        return ValidationResult(
            errors: zip(reported, positions).map { .schema($0, $1) }, hasMore: violations.count > errorsMax)
    }
}
