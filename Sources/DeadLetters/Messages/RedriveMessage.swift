package import AMQP
import Crypto
import Delivery

/// A request that is built from a dead letter: the same body, the producer's headers and the origin.
package enum RedriveMessage {
    private static let roundsMax: Int64 = 1_000_000
    /// Headers of the dead letter that do not apply to the request.
    private static let dropped = MessageHeaderName.singleRound.union([
        MessageHeaderName.failedAt, MessageHeaderName.apnsID, MessageHeaderName.worker, MessageHeaderName.attempt,
        MessageHeaderName.editedFrom, MessageHeaderName.history,
    ])

    /// Returns the request for a queue.
    ///
    /// - Parameter resetsAttempts: whether to reset the number of attempts to 0.
    package static func make(
        of copy: RepublishableMessage, _ letter: DeadLetter, to queue: String, resetsAttempts: Bool
    ) -> OutgoingMessage {
        let theirs = copy.headers
        var message = copy.message(to: queue)
        message.messageID = messageID(of: copy, letter)
        message.carriesUserID = copy.provenance == .worker
        // In a wait queue, from which the broker may have dead-lettered the message, the priority is a header.
        message.priority =
            copy.priority ?? theirs[MessageHeaderName.priority]?.integerValue.flatMap { UInt8(exactly: $0) }
        let mark = DeadLetterMark(letter)
        var headers = FieldTable()
        headers.append(MessageHeaderName.redrive, .string(mark.uuid.description))
        // A redrive counts as one round.
        let rounds = theirs[MessageHeaderName.rounds]?.integerValue ?? 0
        headers.append(MessageHeaderName.rounds, .integer(min(max(rounds, 0), roundsMax) + 1))
        headers.append(MessageHeaderName.waitID, .integer(Int64(mark.waitID)))
        if !resetsAttempts, let attempts = letter.attempts {
            headers.append(MessageHeaderName.attempt, .integer(attempts))
        }
        // If the outcome is unknown, the last attempt may have reached the device.
        let mayBeSecond = theirs[MessageHeaderName.possibleDuplicate]?.booleanValue ?? false
        headers.append(MessageHeaderName.possibleDuplicate, .boolean(mayBeSecond || letter.outcome == "unknown"))
        var names = dropped.union(headers.entries.map(\.name))
        if copy.provenance != .worker { names.formUnion(MessageHeaderName.provenance) }
        // The cursor belongs to the request before its edit. A worker replaces the mark of an edit by a new cursor.
        if theirs[MessageHeaderName.editedFrom] != nil { names.insert(MessageHeaderName.cursor) }
        for entry in theirs.entries
        where !MessageHeaderName.belongsToBroker(entry.name) && names.insert(entry.name).inserted {
            headers.entries.append(entry)
        }
        message.headers = headers
        return message
    }

    /// Returns the request with an edited body for a queue. The number of attempts is reset to 0.
    package static func edited(_ found: FoundMessage, _ body: [UInt8], to queue: String) -> OutgoingMessage {
        var message = make(of: found.copy, found.letter, to: queue, resetsAttempts: true)
        message.body = body
        // The edited body is uncompressed text, regardless of the old property.
        if ContentCoding.compression(in: message.contentEncoding) != nil { message.contentEncoding = nil }
        message.headers.append(MessageHeaderName.editedFrom, .string(found.copy.messageID ?? found.letter.id))
        return message
    }

    /// Returns the `message-id` of the request. If the body has no id, the original `message-id` is the id of the push
    /// or of the command.
    package static func messageID(of copy: RepublishableMessage, _ letter: DeadLetter) -> String {
        let originalID =
            copy.provenance == .worker ? copy.headers[MessageHeaderName.originalMessageID]?.stringValue : nil
        return originalID ?? copy.messageID ?? letter.id
    }
}
