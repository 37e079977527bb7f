import AMQP

/// A receiver of the messages and events of a `ResultsQueue`, on the loop's thread.
class ResultsHandler {
    func received(_ message: IncomingMessage) {}

    /// Handles a change of the connection's status.
    func statusChanged(_ status: BrokerStatus) {}

    /// Handles a missing queue or a refusal by the broker. A retry does not help.
    func failed() {}
}
