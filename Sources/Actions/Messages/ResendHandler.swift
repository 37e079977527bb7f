package import AMQP
package import DeadLetters

/// A receiver of the events of a ``MessageResend``, on the loop's thread.
package protocol ResendHandler: AnyObject {
    /// Handles a chosen message, before it is checked and published. The publication waits for the end of the call.
    func chose(_ message: FoundMessage) async

    /// Handles a message that would be sent, in a dry run.
    func wouldSend(_ letter: DeadLetter)

    func reported(_ report: ResendReport)

    /// Returns whether a queue is bound for a routing key; nil if it is unknown.
    func isRouted(_ routingKey: String) -> Bool?

    /// Publishes the first message of a routing key for which it is unknown whether a queue is bound. The function is
    /// not reentrant.
    func publishFirst(
        _ message: OutgoingMessage, _ publish: (OutgoingMessage) async -> PublishOutcome
    ) async -> PublishOutcome
}

extension ResendHandler {
    package func chose(_ message: FoundMessage) async {}

    package func wouldSend(_ letter: DeadLetter) {}

    package func isRouted(_ routingKey: String) -> Bool? { true }

    package func publishFirst(
        _ message: OutgoingMessage, _ publish: (OutgoingMessage) async -> PublishOutcome
    ) async -> PublishOutcome {
        await publish(message)
    }
}
