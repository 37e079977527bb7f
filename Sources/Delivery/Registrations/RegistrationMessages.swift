import AMQP
import Crypto
import Registrations

/// The messages that a consumer of commands publishes to the result exchange or to a requester.
enum RegistrationMessages {
    static func event(_ event: StoredEvent, exchange: String) -> OutgoingMessage {
        var message = OutgoingMessage(
            exchange: exchange, routingKey: RoutingKey.registration(app: event.app), body: event.body,
            messageID: event.id.description, type: RegistrationEvent.type)
        if event.mayBeDuplicate { message.headers.append(MessageHeaderName.possibleDuplicate, .boolean(true)) }
        return message
    }

    /// Returns the reply to a command. `ReplyDelivery` sets the destination.
    static func reply(_ body: [UInt8], to properties: EchoedProperties) -> OutgoingMessage {
        OutgoingMessage(
            exchange: "", routingKey: "", body: body, messageID: properties.messageID ?? ReplyDelivery.noID,
            correlationID: properties.correlationID, type: RegistrationReply.type)
    }
}
