import AMQP
import BrokerTopology
import ControlProtocol
import EventLoop

/// A reader of the newest records of pauses, also if other messages follow them in the stream. Loop-bound.
final class PauseRecords {
    /// Maximum number of records that the reader keeps.
    private static let recordsMax = 16
    private static let prefetch = 16

    private let session: FleetSession
    private let reader: StreamReader
    private let loop: EventLoop
    private let exchange: String
    private let arrivals: ArrivalWait
    private var search = RecordSearch()
    private var searchTimer: TimerToken?
    /// The last records, oldest first.
    private var records: [PauseRecord] = []
    /// Whether any message has arrived, also one that is no record of an operator.
    private var hasMessages = false
    private var isAttached = false
    /// The refusal of the broker, or the loss of the connection. The reader may have missed records since the loss, and
    /// the lock ended with the connection.
    private var failure: AMQPError?

    /// Begins to read.
    init(_ session: FleetSession) {
        self.session = session
        loop = session.loop
        arrivals = ArrivalWait(on: loop)
        exchange = session.names.controlExchange
        var configuration = StreamReaderConfiguration(stream: session.names.pausesStream, prefetch: Self.prefetch)
        configuration.messageBytesMax = FleetLimits.recordBytesMax
        reader = StreamReader(on: session.connection, configuration: configuration)
        reader.start(Messages(self))
    }

    private final class Messages: StreamReaderHandler {
        private weak var records: PauseRecords?

        init(_ records: PauseRecords) { self.records = records }

        override func position() -> StreamPosition { records?.search.begin() ?? .last }

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
        let record = record(of: message)
        search.messageRead(at: message.offset, isRecord: record != nil)
        if let record {
            if records.count == Self.recordsMax { records.removeFirst() }
            records.append(record)
        }
        guard let wait = search.waitMilliseconds, searchTimer == nil else { return }
        searchTimer = loop.schedule(after: .milliseconds(wait)) { [self] in
            searchTimer = nil
            if search.continueBefore() { reader.restart() }
            arrivals.notify()
        }
    }

    /// Returns the record of an operator; nil for another message. A producer that may publish to the default exchange
    /// can put messages into the stream. The broker verifies the property `user-id`.
    private func record(of message: borrowing StreamMessage) -> PauseRecord? {
        guard message.exchange == exchange, message.properties.userID != nil else { return nil }
        return try? PauseRecord(json: message.body)
    }

    private func failed(_ error: AMQPError) {
        // The search has restarted the reader.
        guard error.code != .closed else { return }
        failure = failure ?? error
        arrivals.notify()
    }

    /// Returns the newest record that has arrived, after a wait for the first one; nil if the stream contains none.
    ///
    /// - Parameters:
    ///   - milliseconds: the wait for the first message of the stream.
    ///   - searchMilliseconds: the wait for a record behind which other messages follow.
    /// - Throws: the refusal or the loss of the connection, or `timedOut` if the broker has not answered, or if it has
    ///   not delivered the whole stream in time.
    func newest(milliseconds: Int, searchMilliseconds: Int) async throws(AMQPError) -> PauseRecord? {
        try await wait(milliseconds) { hasMessages }
        guard isAttached else { throw AMQPError(.timedOut, "the broker did not answer in time") }
        guard hasMessages else {
            // A broker under load may deliver nothing in time, although the stream contains a record.
            let status = try await session.admin.status(ofQueue: session.names.pausesStream)
            guard status.messages == 0 else {
                throw AMQPError(.timedOut, "the broker did not deliver the stream of pauses in time")
            }
            return nil
        }
        try await wait(searchMilliseconds) { search.isComplete || search.isExhausted }
        guard search.isComplete || search.isExhausted else {
            throw AMQPError(.timedOut, "the stream of pauses contains too many messages that are no records")
        }
        return records.last
    }

    /// Returns the newest record, after a wait for a record of the revision or a newer one. The broker from which this
    /// program reads may receive records later than another one.
    ///
    /// - Throws: the refusal or the loss of the connection.
    func newest(from revision: PauseRevision, milliseconds: Int) async throws(AMQPError) -> PauseRecord? {
        try await wait(milliseconds) { records.last.map { !revision.supersedes($0.revision) } ?? false }
        return records.last
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

    func close() async {
        if let timer = searchTimer.take() { loop.cancel(timer) }
        await reader.close()
    }
}
