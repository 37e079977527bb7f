package import AMQP
import BrokerTopology
package import Configuration
import ControlProtocol
package import Crypto
package import EventLoop
package import History

/// A search for one request in the stream of the journal. Loop-bound.
package final class JournalSearch {
    private static let prefetch = 64
    /// Maximum wait for the broker's first answer.
    private static let attachMillisecondsMax = 15_000
    /// The time without a message after which the stream counts as read.
    private static let idleMilliseconds = 2000
    /// The time for which the end of the stream is determined.
    private static let endMilliseconds = 500

    /// The reason for the end of a search.
    package enum End: Sendable, Hashable {
        /// The end that the stream had at the beginning of the search, or no further message.
        case complete
        /// The maximum duration.
        case stopped
    }

    package let connection: BrokerConnection
    private let stream: String
    private let exchange: String
    private let arrivals: ArrivalWait
    package private(set) var trace: JournalTrace
    /// The offset of the last message at the beginning of the search; nil if it is unknown.
    private var endOffset: Int64?
    private var lastOffset: Int64 = -1
    private var isAttached = false
    private var failure: AMQPError?

    private var loop: EventLoop { connection.loop }

    /// - Parameter command: the name of the connection, such as `martlet trace`.
    package init(_ connector: BrokerConnector, on loop: EventLoop, command: String, id: UUIDValue) {
        connection = BrokerConnection(
            loop: loop, connectors: connector.connectors(on: loop),
            configuration: connector.connection(named: command))
        stream = connector.names.journalStream
        exchange = connector.names.fleetExchange
        arrivals = ArrivalWait(on: loop)
        trace = JournalTrace(id)
    }

    /// Reads the stream from a time to its end.
    ///
    /// - Parameters:
    ///   - since: UNIX milliseconds.
    ///   - seconds: the maximum duration.
    /// - Throws: the refusal of the broker, the loss of the connection, or `timedOut` if the broker does not answer.
    package func run(since: Int64, seconds: Int) async throws(AMQPError) -> End {
        let deadline = loop.now.monotonic + .seconds(seconds)
        let newest = reader(
            Messages(self, .last) { search, message in
                search.endOffset = max(message.offset, search.endOffset ?? -1)
            })
        try await wait(Self.attachMillisecondsMax) { isAttached }
        guard isAttached else { throw AMQPError(.timedOut, "the broker did not answer in time") }
        try await wait(Self.endMilliseconds) { false }
        await newest.close()
        guard let endOffset else { return .complete }
        let all = reader(Messages(self, .time(since / 1000)) { search, message in search.received(message) })
        while lastOffset < endOffset {
            guard loop.now.monotonic < deadline else {
                await all.close()
                return .stopped
            }
            let before = lastOffset
            guard try await wait(Self.idleMilliseconds, until: { lastOffset > before }) else { break }
        }
        await all.close()
        return .complete
    }

    private func reader(_ handler: Messages) -> StreamReader {
        var configuration = StreamReaderConfiguration(stream: stream, prefetch: Self.prefetch)
        configuration.messageBytesMax = JournalLimits.batchBytesMax
        let reader = StreamReader(on: connection, configuration: configuration)
        reader.start(handler)
        return reader
    }

    private func received(_ message: borrowing StreamMessage) {
        lastOffset = max(lastOffset, message.offset)
        arrivals.notify()
        // Only workers may publish to the exchange of the fleet.
        guard message.exchange == exchange else { return }
        trace.receive(message.body)
    }

    @discardableResult
    private func wait(_ milliseconds: Int, until isComplete: () -> Bool) async throws(AMQPError) -> Bool {
        let isReached = await arrivals.wait(milliseconds: milliseconds) { failure != nil || isComplete() }
        if let failure { throw failure }
        return isReached
    }

    private final class Messages: StreamReaderHandler {
        private weak var search: JournalSearch?
        private let start: StreamPosition
        private let receive: (JournalSearch, borrowing StreamMessage) -> Void

        init(
            _ search: JournalSearch, _ start: StreamPosition,
            receive: @escaping (JournalSearch, borrowing StreamMessage) -> Void
        ) {
            (self.search, self.start, self.receive) = (search, start, receive)
        }

        override func position() -> StreamPosition { start }

        override func attached() {
            search?.isAttached = true
            search?.arrivals.notify()
        }

        override func received(_ message: consuming StreamMessage) { if let search { receive(search, message) } }

        override func detached(_ reason: AMQPError) { if reason.code != .closed { search?.failed(reason) } }

        override func statusChanged(_ status: BrokerStatus) {
            if case .waiting(let error, _) = status { search?.failed(error) }
        }
    }

    private func failed(_ error: AMQPError) {
        failure = failure ?? error
        arrivals.notify()
    }

    package func close() async { await connection.close() }
}
