import AMQP
import Actions
import CommandKit
import Configuration
import JSON
import Text

/// A report about the publishing of one file, as text, JSON and exit code.
struct PublishReport: Equatable {
    var file: String
    var messageID: String
    var outcome: PublishOutcome
    /// The advice that completes the commands in the remedy.
    var commands: CommandAdvice

    var exitCode: ExitCode {
        switch outcome {
        case .confirmed: .success
        case .returned, .nacked, .refused: .failed
        case .unknown(let error), .notSent(let error): error.code == .notFound ? .failed : .unreachable
        }
    }

    /// The report as text: `published  <id>  <file>`. For a failure, another word replaces `published`, and the reason
    /// follows.
    var line: String {
        let reason = reason.map { ": \($0)" } ?? ""
        return "\(word)  \(messageID)  \(file)\(reason)".printable
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("file", file)
        json.member("id", messageID)
        json.member("outcome", word)
        if let reason { json.member("message", reason) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private var word: String {
        switch outcome {
        case .confirmed: "published"
        case .returned: "unroutable"
        case .nacked, .refused: "refused"
        case .unknown: outcome.isUnknown ? "unknown" : "refused"
        case .notSent: "not-sent"
        }
    }

    /// The reason for a failure, with a remedy if known; nil if the broker confirmed the message.
    var reason: String? { outcome.failure.map { commands.completed($0) } }
}
