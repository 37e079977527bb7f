import AMQP
import Crypto
import Delivery

/// Which results are still to come. Messages with one id have a result each: the second's says that it is a copy.
struct AwaitedResults {
    private var messages: [(messageID: String, names: Set<String>)]

    init(of messages: [OutgoingMessage]) {
        self.messages = messages.map { message in
            let id = RequestIdentity.of(body: message.body, messageID: message.messageID)
            return (message.messageID, Set([message.messageID] + (id.map { [$0.description] } ?? [])))
        }
    }

    var isEmpty: Bool { messages.isEmpty }

    /// Message-ids of those that are missing.
    var missing: [String] { messages.map(\.messageID) }

    /// Whether one of these names was awaited; it is no longer.
    mutating func take(_ names: [String?]) -> Bool {
        guard
            let index = messages.firstIndex(where: { message in
                names.contains { $0.map(message.names.contains) ?? false }
            })
        else { return false }
        messages.remove(at: index)
        return true
    }
}
