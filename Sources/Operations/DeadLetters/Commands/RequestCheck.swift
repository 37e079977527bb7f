import Delivery
import JSONSchema

/// Whether a body is one that a worker takes, as `martlet validate` finds it.
struct RequestCheck {
    private let check = DocumentCheck(ContractSchemas.notification, isOfMessages: true, errorsMax: 1)

    /// What is wrong with it; nil when nothing is.
    func problem(in body: [UInt8]) -> ValidationResult.Problem? { check.result(of: body).errors.first }

    /// Why a worker would refuse the message, by its properties or its body; nil when it would read both.
    func problem(in copy: MessageCopy) -> String? {
        Self.propertyProblem(in: copy) ?? problem(in: copy.body)?.message
    }

    /// Why a worker would refuse the message whatever its body is.
    private static func propertyProblem(in copy: MessageCopy) -> String? {
        ContentCoding.refusal(of: copy.contentEncoding)?.sentence
    }
}
