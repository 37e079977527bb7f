import AMQP
import Crypto
import Delivery

/// The messages whose results are awaited. Messages with the same id have one result each: the second is a duplicate.
struct AwaitedResults {
    private var messages: [(messageID: String, names: Set<String>)]

    init(of messages: [OutgoingMessage]) {
        self.messages = messages.map { message in
            let id = RequestIdentity.of(body: message.body, messageID: message.messageID)
            return (message.messageID, Set([message.messageID] + (id.map { [$0.description] } ?? [])))
        }
    }

    var isEmpty: Bool { messages.isEmpty }

    /// Message-ids of the messages without a result.
    var missing: [String] { messages.map(\.messageID) }

    /// Removes the message with one of these ids. Returns whether there was one.
    mutating func remove(_ names: [String?]) -> Bool {
        guard
            let index = messages.firstIndex(where: { message in
                names.contains { $0.map(message.names.contains) ?? false }
            })
        else { return false }
        messages.remove(at: index)
        return true
    }
}
