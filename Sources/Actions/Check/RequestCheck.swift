package import Configuration
import Delivery
import JSONSchema

/// A check that finds the mistake for which a worker would refuse a request, as `martlet validate` does.
package struct RequestCheck {
    private let check: DocumentCheck

    /// Creates a check.
    ///
    /// - Parameter rules: the rules of the worker's configuration; nil to check only the contract.
    package init(_ rules: RequestRules?) {
        check = DocumentCheck(ContractSchemas.notification, isOfMessages: true, rules, errorsMax: 1)
    }

    /// Returns the first mistake; nil if the body is valid.
    package func problem(in body: [UInt8]) -> ValidationResult.Problem? { check.result(of: body).errors.first }
}
