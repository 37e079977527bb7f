package import AMQP
import Crypto
import Delivery

/// A dead letter as a request again: the body byte for byte, what its producer wrote, and where it comes from.
package enum RedriveMessage {
    private static let roundsMax: Int64 = 1_000_000
    /// What the worker wrote that is no longer so.
    private static let dropped = MessageHeaderName.ofOneRound.union([
        MessageHeaderName.failedAt, MessageHeaderName.apnsID, MessageHeaderName.worker, MessageHeaderName.attempt,
        MessageHeaderName.editedFrom,
    ])

    /// - Parameter resetsAttempts: tries are counted from 0 again.
    package static func make(
        of copy: RepublishableMessage, _ letter: DeadLetter, to queue: String, resetsAttempts: Bool
    ) -> OutgoingMessage {
        let theirs = copy.headers
        var message = copy.message(to: queue)
        // Where the body says no id, the message's own is that of the push.
        let originalID = copy.provenance == .worker ? theirs[MessageHeaderName.originalMessageID]?.stringValue : nil
        message.messageID = originalID ?? copy.messageID ?? letter.id
        message.carriesUserID = copy.provenance == .worker
        // What the broker itself moved to the dead letters may have waited before.
        message.priority =
            copy.priority ?? theirs[MessageHeaderName.priority]?.integerValue.flatMap { UInt8(exactly: $0) }
        let mark = DeadLetterMark(letter)
        var headers = FieldTable()
        headers.append(MessageHeaderName.redrive, .string(mark.uuid.description))
        // It is one more trip.
        let rounds = theirs[MessageHeaderName.rounds]?.integerValue ?? 0
        headers.append(MessageHeaderName.rounds, .integer(min(max(rounds, 0), roundsMax) + 1))
        headers.append(MessageHeaderName.waitID, .integer(Int64(mark.waitID)))
        if !resetsAttempts, let attempts = letter.attempts {
            headers.append(MessageHeaderName.attempt, .integer(attempts))
        }
        // The last try of what is unknown may have reached the device.
        let mayBeSecond = theirs[MessageHeaderName.possibleDuplicate]?.booleanValue ?? false
        headers.append(MessageHeaderName.possibleDuplicate, .boolean(mayBeSecond || letter.outcome == "unknown"))
        var names = dropped.union(headers.entries.map(\.name))
        if copy.provenance != .worker { names.formUnion(MessageHeaderName.provenance) }
        for entry in theirs.entries
        where !MessageHeaderName.belongsToBroker(entry.name) && names.insert(entry.name).inserted {
            headers.entries.append(entry)
        }
        message.headers = headers
        return message
    }
}
