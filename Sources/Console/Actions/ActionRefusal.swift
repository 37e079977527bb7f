import Actions
import AdminHTTP
import ControlProtocol
import Crypto
import JSON
import Text

/// A refusal of an action on messages.
struct ActionRefusal: Error, Sendable {
    /// What the response adds to the error.
    private enum Details: Sendable {
        case none
        /// The record of the action that holds the lock; nil if it is unknown, because a command runs it.
        case holder(AuditRecord?)
        /// The times of the failures of dead letters, in UNIX milliseconds.
        case failures([Int64])
        case problem(ValidationResult.Problem)
    }

    private let error: AdminError
    private let details: Details

    init(_ error: AdminError) { (self.error, details) = (error, .none) }

    /// - Parameter holder: the record of the action of this console that holds the lock.
    init(busy holder: AuditRecord) {
        let text = "\(Self.words(holder)); wait for its end, or let an operator stop it"
        (error, details) = (AdminError(409, text, code: "busy"), .holder(holder))
    }

    /// - Parameters:
    ///   - likely: the record of the action that probably holds the lock: the newest without an end, whose console may
    ///     also have been killed. nil without such an action.
    ///   - sentence: the sentence for an unknown holder.
    init(busy sentence: String, likely: AuditRecord?) {
        let text = likely.map { "\(sentence), perhaps this one: \(Self.words($0))" } ?? "\(sentence); wait for its end"
        (error, details) = (AdminError(409, text, code: "busy"), .holder(likely))
    }

    private static func words(_ record: AuditRecord) -> String {
        let count = record.count.map { " of \($0) messages" } ?? ""
        return "\(record.by) runs the action \(record.verb)\(count)"
    }

    init(_ refusal: EditRun.Refusal) {
        let (status, code, details): (Int, String, Details) =
            switch refusal {
            case .unknown: (404, "unknown", .none)
            case .ambiguous(let failures): (409, "ambiguous", .failures(failures))
            case .otherBody: (409, "other_body", .none)
            case .body(let problem): (400, "body", .problem(problem))
            case .tooLarge, .noTarget: (400, "invalid", .none)
            }
        (error, self.details) = (AdminError(status, refusal.sentence.printable, code: code), details)
    }

    var response: AdminResponse {
        if case .none = details { return error.response }
        var json = JSONWriter()
        json.beginObject()
        json.member("error", error.sentence)
        json.member("code", error.code ?? "")
        switch details {
        case .none: break
        case .holder(let record):
            json.key("holder")
            if let record { json.holder(record) } else { json.null() }
        case .failures(let times): json.list("failed_at", times) { $0.int($1) }
        case .problem(let problem): json.problem(problem)
        }
        json.endObject()
        return .json(json.bytes, status: error.status)
    }
}

extension JSONWriter {
    fileprivate mutating func holder(_ record: AuditRecord) {
        beginObject()
        member("by", record.by)
        member("verb", record.verb)
        member("since", record.at)
        member("console", record.console)
        member("id", record.id.description)
        endObject()
    }

    /// Writes the member `problem` with the mistake in a body.
    mutating func problem(_ problem: ValidationResult.Problem) {
        beginObject("problem")
        member("reason", problem.reason)
        member("message", problem.message)
        member("line", problem.position.line)
        member("column", problem.position.column)
        endObject()
    }
}

/// An exchange that a task answers.
///
/// `@unchecked Sendable`: only the loop uses the exchange.
struct LateAnswer: @unchecked Sendable {
    private let exchange: AdminExchange

    init(_ exchange: AdminExchange) { self.exchange = exchange }

    func send(_ response: AdminResponse) { exchange.answer(response) }
}
