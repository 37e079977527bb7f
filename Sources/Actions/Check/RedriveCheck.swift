import APNSProtocol
import BrokerTopology
package import Configuration
package import DeadLetters
import Delivery
import JSON
import Registrations

/// A check that finds the mistake for which the worker of the target queue would refuse a redriven dead letter. The
/// dead letter is a request or a registration command.
package struct RedriveCheck {
    private let target: RedriveTarget
    private let requests: RequestCheck
    /// The environments of the configured apps; nil to check only the contract.
    private let environments: CommandEnvironments?

    /// Creates a check.
    ///
    /// - Parameter rules: the rules of the worker's configuration; nil to check only the contract.
    package init(_ rules: RequestRules?, _ target: RedriveTarget) {
        self.target = target
        requests = RequestCheck(rules)
        environments = rules?.commandEnvironments
    }

    /// Returns the mistake for which a worker would refuse the properties or the body; nil if the message is valid.
    ///
    /// - Parameter now: UNIX milliseconds.
    package func problem(in copy: RepublishableMessage, of letter: DeadLetter, now: Int64) -> ValidationResult.Problem?
    {
        if let violation = ContentCoding.violation(of: copy.contentEncoding) {
            return .violation(violation, JSONPosition(offset: 0, line: 1, column: 1))
        }
        return problem(inBodyOf: copy, letter, now: now)
    }

    /// Returns the mistake for which a worker would refuse the body; nil if the body is valid.
    ///
    /// - Parameter now: UNIX milliseconds.
    package func problem(
        inBodyOf copy: RepublishableMessage, _ letter: DeadLetter, now: Int64
    ) -> ValidationResult.Problem? {
        guard target.queue(for: letter) == target.names.registrationsQueue else {
            return requests.problem(in: copy.body)
        }
        return commandProblem(in: copy.body, messageID: RedriveMessage.messageID(of: copy, letter), now: now)
    }

    private func commandProblem(in body: [UInt8], messageID: String, now: Int64) -> ValidationResult.Problem? {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(body)
        } catch {
            return .json(error)
        }
        do throws(CommandViolation) {
            _ = try ReceivedCommand(
                body, messageID: RequestIdentity.of(messageID: messageID), from: .queue, now: now
            ) { (app, named) throws(CommandViolation) in
                guard let environments else { return named ?? .production }
                return try environments.find(app, named)
            }
            return nil
        } catch {
            let place = error.path.flatMap { document.root.at(pointer: $0) } ?? document.root
            return .violation(RequestViolation(error), document.position(of: place))
        }
    }
}

extension RequestViolation {
    fileprivate init(_ violation: CommandViolation) {
        self.init(Class(violation.violationClass), violation.code, path: violation.path, violation.sentence)
    }
}

extension RequestViolation.Class {
    fileprivate init(_ violationClass: CommandViolation.Class) {
        self =
            switch violationClass {
            case .property: .property
            case .json: .json
            case .schema: .schema
            case .limit: .limit
            case .app: .app
            case .size: .size
            }
    }
}
