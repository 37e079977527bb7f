import Delivery
import JSONSchema

/// Whether a body is one that a worker takes, as `martlet validate` finds it.
struct RequestCheck {
    private let check = DocumentCheck(ContractSchemas.notification, isOfMessages: true, errorsMax: 1)

    /// What is wrong with it; nil when nothing is.
    func problem(in body: [UInt8]) -> ValidationResult.Problem? { check.result(of: body).errors.first }
}
