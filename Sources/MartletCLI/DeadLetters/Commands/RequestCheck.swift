import Configuration
import DeadLetters
import Delivery
import JSON
import JSONSchema

/// Checks whether a worker would accept a body, as `martlet validate` does.
struct RequestCheck {
    private let check: DocumentCheck

    /// - Parameter rules: from the worker's configuration; nil: check only the contract.
    init(_ rules: RequestRules?) {
        check = DocumentCheck(ContractSchemas.notification, isOfMessages: true, rules, errorsMax: 1)
    }

    /// Returns the first mistake; nil if the body is valid.
    func problem(in body: [UInt8]) -> ValidationResult.Problem? { check.result(of: body).errors.first }

    /// Returns why a worker would refuse the message, by its properties or its body; nil if it would accept both.
    func problem(in copy: RepublishableMessage) -> ValidationResult.Problem? {
        if let violation = ContentCoding.violation(of: copy.contentEncoding) {
            return .violation(violation, JSONPosition(offset: 0, line: 1, column: 1))
        }
        return problem(in: copy.body)
    }
}
