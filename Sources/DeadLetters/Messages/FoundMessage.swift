package import AMQP
import Delivery

/// A message of a scan.
package struct FoundMessage {
    package let message: IncomingMessage
    package let copy: RepublishableMessage
    package let letter: DeadLetter

    init(_ message: IncomingMessage, _ source: MessageSource, _ provenance: Provenance) {
        self.message = message
        copy = RepublishableMessage(message, provenance)
        var letter = DeadLetter(copy, bodyBytes: Int(clamping: message.bodySize))
        switch source {
        case .deadLetters: break
        case .unrouted: letter.readResult(copy.body)
        // The routing key is the queue to which the broker returns the request.
        case .waits: letter.queue = message.routingKey
        }
        self.letter = letter
    }

    /// The names by which an operator can choose the message.
    package var names: [String] { [letter.id, copy.messageID].compactMap(\.self) }
}
