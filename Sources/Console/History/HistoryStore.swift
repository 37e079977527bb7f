import EventLoop
import History
import SQLite
import Threads

/// The index of a history with its threads for writing and reading. After an error at the opening, it opens the files
/// again. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class HistoryStore: @unchecked Sendable {
    private typealias ReaderThread = SQLiteThread<HistoryReader>

    /// Maximum number of queries that wait. Further queries fail.
    private static let queriesMax = 64

    enum State {
        case closed
        case opening
        case open
        case failed(SQLiteError)
    }

    private let files: HistoryFiles
    private let loop: EventLoop
    private(set) var indexer: HistoryIndexer?
    private var reader: ReaderThread?
    private(set) var state = State.closed
    private var retry: TimerToken?

    init(_ files: HistoryFiles, on loop: EventLoop) { (self.files, self.loop) = (files, loop) }

    var limits: HistoryLimits { files.limits }

    /// Opens the files, and repeats this after an error.
    ///
    /// - Parameters:
    ///   - opened: called once, with the offset of the next message.
    ///   - failed: called after each error.
    func open(_ opened: @escaping (Int64?) -> Void, failed: @escaping () -> Void) {
        state = .opening
        let indexer = HistoryIndexer(files.folder, files.keys, limits: files.limits, on: loop)
        self.indexer = indexer
        let outcome = Handler { [weak self] (result: Result<Int64?, SQLiteError>) in
            guard let self, case .opening = state else { return }
            switch result {
            case .success(let offset): startReader(offset, opened, failed)
            case .failure(let error): fail(error, opened, failed)
            }
        }
        do throws(ThreadError) {
            try indexer.start { outcome.call($0) }
        } catch {
            fail(SQLiteError(.unavailable, "cannot start a thread: \(error)"), opened, failed)
        }
    }

    private func startReader(_ offset: Int64?, _ opened: @escaping (Int64?) -> Void, _ failed: @escaping () -> Void) {
        let reader = ReaderThread(limits: SQLiteJobLimits(jobsWaitingMax: Self.queriesMax, jobsPerTransactionMax: 1))
        self.reader = reader
        let (folder, keys) = (files.folder, files.keys)
        let outcome = Handler { [weak self] (error: SQLiteError?) in
            guard let self, case .opening = state else { return }
            if let error { return fail(error, opened, failed) }
            state = .open
            opened(offset)
        }
        do throws(ThreadError) {
            try reader.start(
                folder.indexPath, .readOnly, schema: .historyIndex, on: loop,
                prepare: { file throws(SQLiteError) in try HistoryReader(file, folder, keys) },
                opened: { outcome.call($0) })
        } catch {
            self.reader = nil
            fail(SQLiteError(.unavailable, "cannot start a thread: \(error)"), opened, failed)
        }
    }

    private func fail(_ error: SQLiteError, _ opened: @escaping (Int64?) -> Void, _ failed: @escaping () -> Void) {
        state = .failed(error)
        failed()
        let (reader, indexer) = (reader, indexer)
        (self.reader, self.indexer) = (nil, nil)
        reader?.close(on: loop) {}
        indexer?.close {}
        retry = loop.schedule(after: .seconds(HistoryIndexer.retrySeconds)) { [self] in
            retry = nil
            open(opened, failed: failed)
        }
    }

    /// Runs a query.
    ///
    /// - Parameter completed: called on the loop.
    func read<Value>(
        _ body: @escaping (HistoryReader) throws(SQLiteError) -> Value,
        _ completed: @escaping (Result<Value, SQLiteError>) -> Void
    ) {
        guard case .open = state, let reader else {
            return completed(.failure(SQLiteError(.unavailable, "the history is not open")))
        }
        do throws(SQLiteError) {
            try reader.submit(HistoryJob(on: loop, body, completed: completed))
        } catch {
            completed(.failure(error))
        }
    }

    /// Closes the files, and waits until they are closed.
    func close() async {
        if let retry { loop.cancel(retry) }
        retry = nil
        state = .closed
        let (reader, indexer) = (reader, indexer)
        (self.reader, self.indexer) = (nil, nil)
        if let reader { await wait { closed in reader.close(on: self.loop, closed) } }
        if let indexer { await wait { closed in indexer.close(closed) } }
    }

    private func wait(_ close: (@escaping @Sendable () -> Void) -> Void) async {
        await withUnsafeContinuation { continuation in close { continuation.resume() } }
    }

    /// A closure that the loop alone calls.
    ///
    /// `@unchecked Sendable`: the loop alone calls it.
    private final class Handler<Value>: @unchecked Sendable {
        private let body: (Value) -> Void

        init(_ body: @escaping (Value) -> Void) { self.body = body }

        func call(_ value: Value) { body(value) }
    }
}
