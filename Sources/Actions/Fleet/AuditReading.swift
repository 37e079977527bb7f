package import AMQP
import BrokerTopology
package import ControlProtocol
import EventLoop

/// A reading of the audit from its beginning to the last chunk that the stream had at the start. Loop-bound.
package final class AuditReading {
    private static let prefetch = 200
    /// Maximum wait for the last chunk, and between two messages.
    private static let millisecondsMax = 5000
    /// The wait for the other messages of the last chunk, which the broker delivers together.
    private static let lastChunkMilliseconds = 300

    private let session: FleetSession
    private let arrivals: ArrivalWait
    /// The offset of the oldest message in the last chunk of the stream; nil for an empty stream.
    private var lastOffset: Int64?
    private var seenOffset: Int64?
    private var isAttached = false
    private var failure: AMQPError?

    /// - Parameter session: a started session.
    package init(_ session: FleetSession) {
        self.session = session
        arrivals = ArrivalWait(on: session.loop)
    }

    /// Reads all records, oldest first.
    ///
    /// - Parameter receive: called with each record.
    /// - Throws: the refusal of the broker, the loss of the connection, or `timedOut` if the broker delivers no message
    ///   in time.
    package func run(_ receive: @escaping (AuditRecord) -> Void) async throws(AMQPError) {
        let end = reader(from: .last) { [self] in lastOffset = lastOffset ?? $0.offset }
        await wait { lastOffset != nil }
        await end.close()
        if let failure { throw failure }
        guard let lastOffset else {
            // An attached reader of a stream with a chunk receives it immediately.
            guard isAttached else { throw Self.late }
            return
        }
        let exchange = session.names.controlExchange
        let reader = reader(from: .first) { [self] message in
            seenOffset = message.offset
            guard message.exchange == exchange, message.routingKey.hasPrefix(AuditRecord.keyPrefix),
                !message.isOversized, let record = try? AuditRecord(json: message.body)
            else { return }
            receive(record)
        }
        var former: Int64?
        repeat {
            former = seenOffset
            await wait { (seenOffset ?? -1) >= lastOffset || seenOffset != former }
        } while failure == nil && (seenOffset ?? -1) < lastOffset && seenOffset != former
        await arrivals.wait(milliseconds: Self.lastChunkMilliseconds) { failure != nil }
        await reader.close()
        if let failure { throw failure }
        guard let seenOffset, seenOffset >= lastOffset else { throw Self.late }
    }

    private static let late = AMQPError(.timedOut, "the broker did not deliver the audit in time")

    private func wait(until isComplete: () -> Bool) async {
        await arrivals.wait(milliseconds: Self.millisecondsMax) { failure != nil || isComplete() }
    }

    private func reader(from position: StreamPosition, _ receive: @escaping (StreamMessage) -> Void) -> StreamReader {
        var configuration = StreamReaderConfiguration(stream: session.names.commandsStream, prefetch: Self.prefetch)
        configuration.messageBytesMax = FleetLimits.auditBytesMax
        let reader = StreamReader(on: session.connection, configuration: configuration)
        reader.start(Messages(self, position, receive))
        return reader
    }

    private final class Messages: StreamReaderHandler {
        private weak var reading: AuditReading?
        private let start: StreamPosition
        private let receive: (StreamMessage) -> Void

        init(_ reading: AuditReading, _ start: StreamPosition, _ receive: @escaping (StreamMessage) -> Void) {
            (self.reading, self.start, self.receive) = (reading, start, receive)
        }

        override func position() -> StreamPosition { start }

        override func attached() { reading?.isAttached = true }

        override func received(_ message: consuming StreamMessage) {
            receive(message)
            reading?.arrivals.notify()
        }

        override func statusChanged(_ status: BrokerStatus) {
            guard case .waiting(let error, _) = status, let reading else { return }
            reading.failure = reading.failure ?? error
            reading.arrivals.notify()
        }
    }
}
