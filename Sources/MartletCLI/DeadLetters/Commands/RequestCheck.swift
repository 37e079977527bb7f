import Configuration
import DeadLetters
import Delivery
import JSON
import JSONSchema

/// Whether a body is one that a worker takes, as `martlet validate` finds it.
struct RequestCheck {
    private let check: DocumentCheck

    /// - Parameter rules: of the worker's configuration; nil: the contract alone counts.
    init(_ rules: RequestRules?) {
        check = DocumentCheck(ContractSchemas.notification, isOfMessages: true, rules, errorsMax: 1)
    }

    /// What is wrong with it; nil when nothing is.
    func problem(in body: [UInt8]) -> ValidationResult.Problem? { check.result(of: body).errors.first }

    /// Why a worker would refuse the message, by its properties or its body; nil when it would read both.
    func problem(in copy: RepublishableMessage) -> ValidationResult.Problem? {
        if let violation = ContentCoding.violation(of: copy.contentEncoding) {
            return .violation(violation, JSONPosition(offset: 0, line: 1, column: 1))
        }
        return problem(in: copy.body)
    }
}
