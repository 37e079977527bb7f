import Configuration
import DeadLetters
import Delivery
import JSON
import JSONSchema

/// A check that finds the mistake for which a worker would refuse a message, as `martlet validate` does.
struct RequestCheck {
    private let check: DocumentCheck

    /// Creates a check.
    ///
    /// - Parameter rules: the rules of the worker's configuration; nil to check only the contract.
    init(_ rules: RequestRules?) {
        check = DocumentCheck(ContractSchemas.notification, isOfMessages: true, rules, errorsMax: 1)
    }

    /// Returns the first mistake; nil if the body is valid.
    func problem(in body: [UInt8]) -> ValidationResult.Problem? { check.result(of: body).errors.first }

    /// Returns the mistake for which a worker would refuse the properties or the body; nil if the message is valid.
    func problem(in copy: RepublishableMessage) -> ValidationResult.Problem? {
        if let violation = ContentCoding.violation(of: copy.contentEncoding) {
            return .violation(violation, JSONPosition(offset: 0, line: 1, column: 1))
        }
        return problem(in: copy.body)
    }
}
