import AMQP
import Crypto
import Delivery

/// The requests whose results are awaited. Each request has its own result, even if two requests have the same id and
/// the second is a duplicate.
struct AwaitedResults {
    private var messages: [(messageID: String, names: Set<String>)]

    init(of messages: [OutgoingMessage]) {
        self.messages = messages.map { message in
            let id = RequestIdentity.of(body: message.body, messageID: message.messageID)
            return (message.messageID, Set([message.messageID] + (id.map { [$0.description] } ?? [])))
        }
    }

    var isEmpty: Bool { messages.isEmpty }

    /// Message-ids of the requests without a result.
    var missing: [String] { messages.map(\.messageID) }

    /// Removes the request with one of these ids. Returns false if no request has such an id.
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
