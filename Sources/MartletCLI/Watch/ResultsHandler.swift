import AMQP

/// Receives the messages and events of a `ResultsQueue`, on the loop's thread.
class ResultsHandler {
    func received(_ message: IncomingMessage) {}

    /// The status of the connection has changed.
    func statusChanged(_ status: BrokerStatus) {}

    /// The queue is missing or the broker refuses it. Retrying does not help.
    func failed() {}
}
