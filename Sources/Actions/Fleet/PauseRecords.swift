import AMQP
import BrokerTopology
import ControlProtocol
import EventLoop

/// A reader of the records of pauses. Loop-bound.
final class PauseRecords {
    /// Maximum number of records that the reader keeps.
    private static let recordsMax = 16
    private static let prefetch = 16

    private let reader: StreamReader
    private let exchange: String
    private let arrivals: ArrivalWait
    /// The last records, oldest first.
    private var records: [PauseRecord] = []
    /// Whether any message has arrived, also one that is no record of an operator.
    private var hasMessages = false
    private var isAttached = false
    /// The refusal of the broker, or the loss of the connection. The reader may have missed records since the loss, and
    /// the lock ended with the connection.
    private var failure: AMQPError?

    /// Begins to read.
    init(_ session: FleetSession, from position: StreamPosition) {
        arrivals = ArrivalWait(on: session.loop)
        exchange = session.names.controlExchange
        var configuration = StreamReaderConfiguration(stream: session.names.pausesStream, prefetch: Self.prefetch)
        configuration.messageBytesMax = FleetLimits.recordBytesMax
        reader = StreamReader(on: session.connection, configuration: configuration)
        reader.start(Messages(self, position))
    }

    private final class Messages: StreamReaderHandler {
        private weak var records: PauseRecords?
        private let start: StreamPosition

        init(_ records: PauseRecords, _ start: StreamPosition) { (self.records, self.start) = (records, start) }

        override func position() -> StreamPosition { start }

        override func attached() { records?.isAttached = true }

        override func received(_ message: consuming StreamMessage) { records?.received(message) }

        override func detached(_ reason: AMQPError) { records?.failed(reason) }

        override func statusChanged(_ status: BrokerStatus) {
            if case .waiting(let error, _) = status { records?.failed(error) }
        }
    }

    private func received(_ message: consuming StreamMessage) {
        hasMessages = true
        arrivals.notify()
        // A producer that may publish to the default exchange can put messages into the stream. The broker verifies the
        // property `user-id`.
        guard message.exchange == exchange, message.properties.userID != nil,
            let record = try? PauseRecord(json: message.body)
        else { return }
        if records.count == Self.recordsMax { records.removeFirst() }
        records.append(record)
    }

    private func failed(_ error: AMQPError) {
        failure = failure ?? error
        arrivals.notify()
    }

    /// Returns the newest record that has arrived, after a wait for the first one; nil if none has arrived in time.
    ///
    /// - Throws: the refusal or the loss of the connection.
    func newest(milliseconds: Int) async throws(AMQPError) -> PauseRecord? {
        try await wait(milliseconds) { !records.isEmpty }
        return records.last
    }

    /// Returns whether the stream contains no message. Waits for a message.
    ///
    /// - Throws: the refusal or the loss of the connection, or `timedOut` if the broker has not answered.
    func isEmpty(milliseconds: Int) async throws(AMQPError) -> Bool {
        try await wait(milliseconds) { hasMessages }
        guard isAttached else { throw AMQPError(.timedOut, "the broker did not answer in time") }
        return !hasMessages
    }

    /// Waits for a record of this program. Returns the record before it in the stream; nil if the record is late, or
    /// the reader has no earlier record.
    ///
    /// - Throws: the refusal or the loss of the connection.
    func record(before record: PauseRecord, milliseconds: Int) async throws(AMQPError) -> PauseRecord? {
        var index: Int?
        try await wait(milliseconds) {
            index = records.firstIndex(of: record)
            return index != nil
        }
        return index.flatMap { $0 > 0 ? records[$0 - 1] : nil }
    }

    private func wait(_ milliseconds: Int, until isComplete: () -> Bool) async throws(AMQPError) {
        await arrivals.wait(milliseconds: milliseconds) { failure != nil || isComplete() }
        if let failure { throw failure }
    }

    func close() async { await reader.close() }
}
