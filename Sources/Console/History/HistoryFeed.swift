import AMQP
import BrokerTopology
import Configuration
import ControlProtocol
import EventLoop
import History
import SQLite

/// The indexing of the journal. It reads the stream with a connection of its own, so that a missing replica of the
/// stream does not change the host of other readers. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class HistoryFeed: @unchecked Sendable {
    /// The broker delivers whole chunks, so the reader may receive more.
    private static let prefetch = 32
    /// The time after which the last known message must have arrived.
    private static let knownSeconds: Int64 = 5
    /// Minimum time between two notes of changes.
    private static let noteSeconds: Int64 = 2
    /// Minimum time between two readings of the waits.
    private static let waitsSeconds: Int64 = 10

    /// Maximum time by which a current index is behind the stream.
    private static let currentSeconds = 60

    /// A problem that stops the indexing.
    struct Problem: Sendable, Equatable {
        let code: String
        let sentence: String
        let remedy: String?
        let since: MonotonicTime
    }

    let store: HistoryStore
    private let loop: EventLoop
    private let changes: ChangeFeed
    private let connection: BrokerConnection
    private let stream: String
    private let exchange: String
    private let folder: String
    private var intake = JournalIntake(nextOffset: nil)
    private var reader: StreamReader?
    private var records: Records?
    private var isWriting = false
    private var isDetaching = false
    private var isClosing = false
    /// Whether a command may use the files, so that the feed does not.
    private var isReleased = false
    private var hasRestarted = false
    private var retry: TimerToken?
    private var reopening: TimerToken?
    private var known: TimerToken?
    private var noteTimer: TimerToken?
    private var waitsTimer: TimerToken?
    private var lag = JournalLag()
    private(set) var problem: Problem?
    /// The requests that wait, by code and app; nil before the first reading.
    private(set) var waits: [OpenWaits]?

    init(_ connector: BrokerConnector, _ files: HistoryFiles, on loop: EventLoop, changes: ChangeFeed) {
        (self.loop, self.changes) = (loop, changes)
        (stream, exchange) = (connector.names.journalStream, connector.names.fleetExchange)
        folder = files.folder.path
        store = HistoryStore(files, on: loop)
        connection = BrokerConnection(
            loop: loop, connectors: connector.connectors(on: loop),
            configuration: connector.connection(named: "martlet console history"))
    }

    /// The time by which the index is behind the stream, as ``JournalLag`` estimates it; nil if unknown.
    var secondsBehind: Int? {
        lag.seconds(isAttached: records?.isAttached ?? false, isIdle: intake.isEmpty && !isWriting, at: loop.now)
    }

    /// Whether the index follows the stream, and is at most ``currentSeconds`` behind it.
    var isCurrent: Bool { problem == nil && (secondsBehind.map { $0 <= Self.currentSeconds } ?? false) }

    func start() {
        store.open(
            { [self] offset in
                clear("history_unavailable")
                clear("history_released")
                intake = JournalIntake(nextOffset: offset)
                attach()
                readWaits()
                changes.note(.history)
            },
            failed: { [self] in
                guard case .failed(let error) = store.state else { return }
                // The command to which the console has released the files may still use them.
                if error.code == .inUse, problem?.code == "history_released" { return }
                report("history_unavailable", "The console cannot open the history: \(error.message).", nil)
            })
    }

    /// Closes the files for a command that needs them alone. Opens them again after ``HistoryIndexer/retrySeconds``, or
    /// when the command has ended: until then, its lock prevents the opening.
    ///
    /// - Returns: false if the files are closed for another command already.
    func release() async -> Bool {
        guard !isReleased, !isClosing else { return false }
        isReleased = true
        report("history_released", "A command uses the history, so that requests cannot be found.", nil)
        if let retry { loop.cancel(retry) }
        retry = nil
        stopWaitingForKnown()
        records?.end()
        let reader = reader
        (self.reader, records) = (nil, nil)
        await reader?.close()
        await store.close()
        guard !isClosing else { return true }
        reopening = loop.schedule(after: .seconds(HistoryIndexer.retrySeconds)) { [self] in
            reopening = nil
            (isReleased, hasRestarted) = (false, false)
            start()
        }
        return true
    }

    /// Ends the reading, and waits until the files are closed.
    func close() async {
        isClosing = true
        for timer in [retry, reopening, known, noteTimer, waitsTimer] { if let timer { loop.cancel(timer) } }
        (retry, reopening, known, noteTimer, waitsTimer) = (nil, nil, nil, nil, nil)
        records?.end()
        await connection.close()
        await store.close()
    }

    // MARK: Reading

    private func attach() {
        guard reader == nil, !isClosing, !isReleased, !isDetaching, !hasRestarted else { return }
        var configuration = StreamReaderConfiguration(stream: stream, prefetch: Self.prefetch)
        configuration.messageBytesMax = JournalLimits.batchBytesMax
        let records = Records(self)
        let reader = StreamReader(on: connection, configuration: configuration)
        (self.records, self.reader) = (records, reader)
        reader.start(records)
    }

    /// Ends the reader, whose further messages are ignored. They arrive again at the next one.
    private func detach() {
        guard let reader, !isDetaching, !isClosing, !isReleased else { return }
        isDetaching = true
        records?.end()
        (self.reader, records) = (nil, nil)
        stopWaitingForKnown()
        Task(executorPreference: loop) { [self] in
            await reader.close()
            isDetaching = false
            if intake.hasRoom { attach() }
        }
    }

    fileprivate var position: StreamPosition { intake.lastOffset.map { .offset($0) } ?? .first }

    fileprivate func attached() {
        guard intake.lastOffset != nil, known == nil else { return }
        known = loop.schedule(after: .seconds(Self.knownSeconds)) { [self] in
            known = nil
            restart()
        }
    }

    fileprivate func received(_ offset: Int64, _ body: [UInt8]) {
        stopWaitingForKnown()
        switch intake.receive(HistoryMessage(offset: offset, body: body)) {
        case .repeated: return
        case .otherStream: return restart()
        case .added: break
        }
        lag.received(at: loop.now.monotonic)
        if intake.isFull { detach() }
        write()
    }

    fileprivate func stopWaitingForKnown() {
        if let known { loop.cancel(known) }
        known = nil
    }

    /// Reads the stream from its start, because it was deleted and declared again.
    private func restart() {
        hasRestarted = true
        detach()
        write()
    }

    private func finishRestart() {
        guard let indexer = store.indexer else { return }
        isWriting = true
        indexer.restartStream { [self] result in
            isWriting = false
            guard !isClosing, !isReleased else { return }
            switch result {
            case .success:
                hasRestarted = false
                intake = JournalIntake(nextOffset: nil)
                attach()
            case .failure(let error): failed(error)
            }
        }
    }

    // MARK: Writing

    private func write() {
        guard !isWriting, retry == nil, !isClosing, !isReleased, let indexer = store.indexer else { return }
        let messages = intake.transaction
        guard !messages.isEmpty else {
            if hasRestarted { finishRestart() }
            return
        }
        isWriting = true
        indexer.write(messages, at: loop.now.unixMilliseconds) { [self] result in
            isWriting = false
            guard !isClosing, !isReleased else { return }
            switch result {
            case .success(let progress) where progress.isDiskFull:
                report(
                    "history_disk_full",
                    "The disk of \(folder) has less than 10 % free space, so the history stops. Workers push as before.",
                    "Free space on the disk, or lower console.history.gigabytes_max.")
                writeLater()
            case .success(let progress): written(messages.count, progress)
            case .failure(let error): failed(error)
            }
        }
    }

    private func written(_ count: Int, _ progress: HistoryProgress) {
        clear("history_disk_full")
        clear("history_unavailable")
        intake.removeFirst(count)
        lag.written(progress.lastBatchAt, at: loop.now.unixMilliseconds)
        if progress.rows > 0 { noteLater() }
        if intake.hasRoom { attach() }
        write()
    }

    private func failed(_ error: SQLiteError) {
        report("history_unavailable", "The console cannot write the history: \(error.message).", nil)
        writeLater()
    }

    private func writeLater() {
        guard retry == nil, !isClosing else { return }
        retry = loop.schedule(after: .seconds(HistoryIndexer.retrySeconds)) { [self] in
            retry = nil
            write()
        }
    }

    // MARK: State

    private func report(_ code: String, _ sentence: String, _ remedy: String?) {
        let since = problem?.code == code ? problem?.since : nil
        problem = Problem(code: code, sentence: sentence, remedy: remedy, since: since ?? loop.now.monotonic)
        changes.note(.history)
    }

    private func clear(_ code: String) {
        guard problem?.code == code else { return }
        problem = nil
        changes.note(.history)
    }

    private func noteLater() {
        guard noteTimer == nil else { return }
        noteTimer = loop.schedule(after: .seconds(Self.noteSeconds)) { [self] in
            noteTimer = nil
            changes.note(.history)
            readWaits()
        }
    }

    /// Reads the requests that wait, and repeats this every ``waitsSeconds`` seconds. Does nothing if the next reading
    /// is scheduled.
    private func readWaits() {
        guard waitsTimer == nil, !isClosing else { return }
        waitsTimer = loop.schedule(after: .seconds(Self.waitsSeconds)) { [self] in
            waitsTimer = nil
            readWaits()
        }
        store.read(
            { reader throws(SQLiteError) in try reader.openWaits() },
            { [self] result in
                guard !isClosing, case .success(let waits) = result, self.waits != waits else { return }
                self.waits = waits
                changes.note(.history)
            })
    }

    /// The receiver of the stream's messages.
    private final class Records: StreamReaderHandler {
        private weak var feed: HistoryFeed?
        private(set) var isAttached = false

        init(_ feed: HistoryFeed) { self.feed = feed }

        func end() { (feed, isAttached) = (nil, false) }

        override func position() -> StreamPosition { feed?.position ?? .next }

        override func attached() {
            isAttached = true
            feed?.attached()
        }

        override func received(_ message: consuming StreamMessage) {
            let message = message
            guard let feed else { return }
            // Only workers may publish to the exchange of the fleet. Other messages only have an offset.
            let isOfWorker = message.exchange == feed.exchange && !message.isOversized
            feed.received(message.offset, isOfWorker ? message.body : [])
        }

        override func detached(_ reason: AMQPError) {
            isAttached = false
            feed?.stopWaitingForKnown()
        }
    }
}
