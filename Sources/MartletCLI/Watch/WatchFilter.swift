import CommandKit
import Configuration

/// Which results and dead letters somebody wants to see: those for which all holds.
struct WatchFilter: Equatable, Sendable {
    var isOfDeadLetters = false
    var app: AppPattern?
    /// One of these; empty: any.
    var outcomes: [String] = []
    /// The notification's own, or the message-id.
    var id: String?

    func lets(_ message: WatchedMessage) -> Bool {
        if isOfDeadLetters, message.kind != .deadLetter { return false }
        if let app, !(message.app.map { app.matches($0) } ?? false) { return false }
        if !outcomes.isEmpty, !outcomes.contains(message.outcome ?? "") { return false }
        guard let id = id?.lowercased() else { return true }
        return [message.id, message.messageID].contains { $0?.lowercased() == id }
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
