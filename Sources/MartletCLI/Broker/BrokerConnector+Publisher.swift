import AMQP
import Configuration
import EventLoop

extension BrokerConnector {
    /// Returns a publisher once it is ready. Until the publisher closes, prints on standard error why the command waits
    /// for the broker. The caller closes the publisher.
    ///
    /// - Parameters:
    ///   - name: The name of the connection.
    ///   - timeoutSeconds: The timeout for the connection, for the publish of a message, and for its confirm.
    ///   - start: Starts the publisher.
    func publisher(
        named name: String, timeoutSeconds: Int, on loop: EventLoop, start: (Publisher) -> Void
    ) async throws(AMQPError) -> Publisher {
        var configuration = PublisherConfiguration()
        configuration.publishTimeoutSeconds = timeoutSeconds
        configuration.confirmTimeoutSeconds = timeoutSeconds
        let publisher = Publisher(
            loop: loop, connectors: connectors(on: loop), connection: connection(named: name),
            configuration: configuration)
        BrokerWait.follow(publisher.connection, self)
        start(publisher)
        do throws(AMQPError) {
            try await publisher.waitUntilReady(deadlineSeconds: timeoutSeconds)
        } catch {
            await publisher.close()
            throw error
        }
        return publisher
    }
}
