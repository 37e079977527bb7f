import AMQP
import BrokerTopology
import Configuration
import ControlProtocol
import EventLoop

/// The connections of a worker to the streams and the exchange of fleet control at one broker. They reconnect until
/// `close`.
///
/// Streams are read on a connection of their own. While the broker is short of memory or disk space, it reads nothing
/// from a connection that publishes.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class FleetLink: @unchecked Sendable {
    /// Maximum number of reports, replies and batches that wait for the connection.
    private static let waitingMax = 32
    private static let publishSecondsMax = 2
    private static let prefetch = 16
    private static let closeSecondsMax = 1
    private static let heartbeatSeconds = 10
    /// Maximum time after which a connection notices that the broker does not answer. It is the time of two heartbeats.
    static let silentSecondsMax: Int64 = 2 * Int64(heartbeatSeconds)

    /// The longest delay before the reading connection connects again. After an outage of 30 seconds, the worker must
    /// read again before ``CommandWindow/absenceSecondsMax``, which includes ``silentSecondsMax``.
    private static let retrySecondsMax = 8

    private let reading: BrokerConnection
    private let publishing: BrokerConnection
    private let pauses: StreamReader
    private let commands: StreamReader
    private let newestCommand: StreamReader
    private let publisher: Publisher
    private let exchange: String
    private let loop: EventLoop
    private var forwarders: [Forwarder] = []

    init(_ components: WorkerComponents, on loop: EventLoop) {
        let names = components.topology.names
        reading = components.connection(
            for: "fleet read", on: loop, heartbeatSecondsMax: Self.heartbeatSeconds,
            retrySecondsMax: Self.retrySecondsMax)
        publishing = components.connection(for: "fleet publish", on: loop, heartbeatSecondsMax: Self.heartbeatSeconds)
        pauses = Self.reader(of: names.pausesStream, bytesMax: FleetLimits.recordBytesMax, on: reading)
        commands = Self.reader(of: names.commandsStream, bytesMax: FleetLimits.commandBytesMax, on: reading)
        newestCommand = Self.reader(of: names.commandsStream, bytesMax: FleetLimits.commandBytesMax, on: reading)
        var configuration = PublisherConfiguration()
        configuration.waitingMax = Self.waitingMax
        configuration.publishTimeoutSeconds = Self.publishSecondsMax
        configuration.confirmTimeoutSeconds = Self.publishSecondsMax
        publisher = Publisher(on: publishing, configuration: configuration)
        exchange = names.fleetExchange
        self.loop = loop
    }

    private static func reader(of stream: String, bytesMax: Int, on connection: BrokerConnection) -> StreamReader {
        var configuration = StreamReaderConfiguration(stream: stream, prefetch: prefetch)
        configuration.messageBytesMax = bytesMax
        return StreamReader(on: connection, configuration: configuration)
    }

    func start(pauses: FleetPauses, commands: FleetCommands) {
        let newest = NewestOffset(on: loop) { [commands] in commands.learned(offset: $0) }
        forwarders = [Forwarder(pauses), Forwarder(commands), Forwarder(newest)]
        (pauses.reader, commands.reader) = (self.pauses, self.commands)
        publisher.start()
        for (reader, forwarder) in zip([self.pauses, self.commands, newestCommand], forwarders) {
            reader.start(forwarder)
        }
    }

    /// Passes the events of a reader to its handler, until the link closes. The handler may then belong to another
    /// link.
    private final class Forwarder: StreamReaderHandler {
        var handler: StreamReaderHandler?

        init(_ handler: StreamReaderHandler) { self.handler = handler }

        override func position() -> StreamPosition { handler?.position() ?? .next }
        override func attached() { handler?.attached() }
        override func received(_ message: consuming StreamMessage) { handler?.received(message) }
        override func detached(_ reason: AMQPError) { handler?.detached(reason) }
        override func statusChanged(_ status: BrokerStatus) { handler?.statusChanged(status) }
    }

    /// Whether a report would be sent immediately.
    var isReady: Bool { publisher.status == .ready }

    /// Publishes a report, a reply or a batch of the journal.
    ///
    /// - Parameters:
    ///   - isMandatory: whether the broker returns a message that no queue or stream receives. Without a watcher, the
    ///     broker drops other messages.
    ///   - completion: called with the outcome of the publish.
    func publish(
        _ body: [UInt8], type: String, key: String, isMandatory: Bool = false,
        then completion: @escaping (PublishOutcome) -> Void
    ) {
        var message = OutgoingMessage(
            exchange: exchange, routingKey: key, body: body, messageID: String(loop.nextRandom(), radix: 36), type: type
        )
        message.isMandatory = isMandatory
        publisher.publish(message, Completion(completion))
    }

    private final class Completion: PublishReceiver {
        private let completion: (PublishOutcome) -> Void

        init(_ completion: @escaping (PublishOutcome) -> Void) { self.completion = completion }

        override func published(_ outcome: PublishOutcome) { completion(outcome) }
    }

    /// Calls no handler from now on, and closes the connections.
    func close() async {
        for forwarder in forwarders { forwarder.handler = nil }
        await reading.close(deadlineSeconds: Self.closeSecondsMax)
        await publishing.close(deadlineSeconds: Self.closeSecondsMax)
    }
}
