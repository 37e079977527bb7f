import CommandKit
import JSON
import Registrations
import Text

/// The reply to a registration command, as text, JSON and exit code. The content is untrusted.
struct CommandReply {
    private let body: [UInt8]
    private let id: String
    private let outcome: String
    /// The reason why the command did not have its effect; nil if the command had its effect.
    private let reason: String?

    /// Reads the body of a reply.
    ///
    /// - Parameters:
    ///   - word: The command.
    ///   - id: The id of the command. The reply to an invalid command has none.
    init(_ body: [UInt8], to word: RegistrationCommand.Word, id: String) {
        (self.body, self.id) = (body, id)
        let root = try? JSONDocument(body).root
        outcome = root?["outcome"]?.string ?? "-"
        guard let reply = RegistrationReply(rawValue: outcome) else {
            reason = root?["message"]?.string ?? "the reply has an unknown outcome"
            return
        }
        reason = Self.reason(reply, to: word)
    }

    private static func reason(_ reply: RegistrationReply, to word: RegistrationCommand.Word) -> String? {
        switch (reply, word) {
        case (.stored, _), (.unchanged, _), (.moved, _): nil
        case (.superseded, .register):
            "a newer registration has precedence, or the user has newer registrations up to the limit"
        case (.superseded, _): "a newer registration remains"
        case (.ended, .register): "a later end has precedence, or the registration has expired"
        case (.ended, _), (.notFound, _): nil
        }
    }

    var exitCode: ExitCode { reason == nil ? .success : .failed }

    /// The reply as text: the outcome and the id, and a reason if the command did not have its effect.
    var line: String { "\(outcome)  \(id)\(reason.map { ": \($0)" } ?? "")".printable }

    /// The body of the reply.
    var json: String { String(decoding: body, as: UTF8.self).printable }
}
