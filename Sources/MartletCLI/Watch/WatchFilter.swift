import CommandKit
import Configuration

/// A selection of results and dead letters. All conditions must match.
struct WatchFilter: Equatable, Sendable {
    var isOfDeadLetters = false
    var app: AppPattern?
    /// Allowed outcomes; empty for any outcome.
    var outcomes: [String] = []
    /// The notification's id, the id of its request to users, or the message-id.
    var id: String?

    func matches(_ message: WatchedMessage) -> Bool {
        if isOfDeadLetters, message.kind != .deadLetter { return false }
        if let app, !(message.app.map { app.matches($0) } ?? false) { return false }
        if !outcomes.isEmpty, !outcomes.contains(message.outcome ?? "") { return false }
        guard let id = id?.lowercased() else { return true }
        return [message.id, message.messageID, message.requestID].contains { $0?.lowercased() == id }
    }
}

extension WatchFilter {
    init(_ parsed: ParsedArguments) {
        isOfDeadLetters = parsed.options["dead"] != nil
        app = parsed.options["app"].map { AppPattern(text: $0) }
        outcomes = parsed.lists["outcome"] ?? []
        id = parsed.options["id"]
    }
}
