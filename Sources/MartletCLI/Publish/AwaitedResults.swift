import AMQP
import Crypto
import Delivery

/// The requests whose results the command awaits. Each request has its own results, even if two requests have the same
/// id and the second is a duplicate.
///
/// A request to users is complete when a report and the results of all devices in the report have arrived.
struct AwaitedResults {
    private struct Request {
        let messageID: String
        /// The message-id and the id in the body.
        let names: Set<String>
        /// The number of results of devices so far.
        var resultCount = 0
        /// The number of devices in the report; nil before the report arrives.
        var deviceCount: Int?

        var isComplete: Bool { deviceCount.map { resultCount >= $0 } ?? false }
    }

    private var requests: [Request]

    init(of messages: [OutgoingMessage]) {
        requests = messages.map { message in
            let id = RequestIdentity.of(body: message.body, messageID: message.messageID)
            return Request(
                messageID: message.messageID, names: Set([message.messageID] + (id.map { [$0.description] } ?? [])))
        }
    }

    var isEmpty: Bool { requests.isEmpty }

    /// Message-ids of the requests that are not complete.
    var missing: [String] { requests.map(\.messageID) }

    mutating func remove(_ messageID: String) {
        if let index = requests.firstIndex(where: { $0.messageID == messageID }) { requests.remove(at: index) }
    }

    /// Records a message, and removes its request if the request is complete. Returns whether the message belongs to a
    /// request.
    mutating func receive(_ message: WatchedMessage) -> Bool {
        let names = [message.messageID, message.id, message.requestID].compactMap(\.self)
        guard let index = requests.firstIndex(where: { !$0.names.isDisjoint(with: names) }) else { return false }
        switch message.kind {
        case .report: requests[index].deviceCount = message.devices
        // The result of a request to one user with one device has the number of devices, and no report follows.
        case .result where message.requestID != nil && message.devices == nil: requests[index].resultCount += 1
        case .result, .deadLetter, .channelReply, .registrationReply, .registrationEvent:
            requests.remove(at: index)
            return true
        }
        if requests[index].isComplete { requests.remove(at: index) }
        return true
    }
}
