package import EventLoop
package import Registrations
package import SQLite
package import Threads

/// The indexing of the journal's stream on a thread of its own. Belongs to one loop.
///
/// One transaction at a time runs. After a failure, the caller repeats the call.
package final class HistoryIndexer {
    /// Maximum number of messages of one transaction.
    package static let messagesMax = 256
    /// The time after which the caller should retry if the disk is full, or after an error.
    package static let retrySeconds = 10

    package typealias Thread = SQLiteThread<HistoryWriter>

    private let folder: HistoryFolder
    private let keys: RegistrationKeys
    private let limits: HistoryLimits
    private let space: HistoryWriter.Space
    private let loop: EventLoop
    private let thread = Thread(limits: SQLiteJobLimits(jobsWaitingMax: 64, jobsPerTransactionMax: 1))
    /// Whether a transaction has failed, so that the next one must read the files again.
    private var mustReload = false
    private var isWriting = false

    /// - Parameter space: reads the space of the disk on the thread. Default: the file system of the folder.
    package init(
        _ folder: HistoryFolder, _ keys: RegistrationKeys, limits: HistoryLimits = HistoryLimits(), on loop: EventLoop,
        space: HistoryWriter.Space? = nil
    ) {
        (self.folder, self.keys, self.limits, self.loop) = (folder, keys, limits, loop)
        self.space = space ?? { DiskSpace(of: folder.path) }
    }

    /// Opens the files. Call this method once.
    ///
    /// - Parameter opened: Called on the loop, with the offset of the next message or the error. The offset is nil if
    ///   no message was indexed yet.
    /// - Throws: if the system cannot create the thread.
    package func start(
        _ opened: @escaping @Sendable (Result<Int64?, SQLiteError>) -> Void
    ) throws(ThreadError) {
        let (folder, keys, limits, space) = (folder, keys, limits, space)
        let job = IndexerJob<Int64?>(on: loop) { writer throws(SQLiteError) in
            writer.nextOffset
        } completed: {
            opened($0)
        }
        do throws(SQLiteError) { try thread.submit(job) } catch { return opened(.failure(error)) }
        try thread.start(
            folder.indexPath, .readWrite, schema: .historyIndex, on: loop,
            prepare: { file throws(SQLiteError) in
                try HistoryWriter(file, folder, keys, limits, space: space)
            }, opened: { _ in })
    }

    /// Stores messages in the order of their offsets. Messages that were stored before have no effect. Call this method
    /// again only after `completed`.
    ///
    /// - Parameters:
    ///   - messages: at most ``messagesMax``.
    ///   - now: UNIX milliseconds.
    ///   - completed: Called on the loop. After a failure or a full disk, retry with the same messages later.
    package func write(
        _ messages: [HistoryMessage], at now: Int64,
        completed: @escaping (Result<HistoryProgress, SQLiteError>) -> Void
    ) {
        precondition(!isWriting, "the history writes one transaction at a time")
        precondition(messages.count <= Self.messagesMax, "a transaction of the history has too many messages")
        isWriting = true
        submit(
            { writer throws(SQLiteError) in try writer.write(messages, at: now) },
            { [self] result in
                isWriting = false
                completed(result)
            })
    }

    /// Forgets the offset, because the stream was deleted and declared again.
    package func restartStream(completed: @escaping (Result<Void, SQLiteError>) -> Void) {
        submit({ writer throws(SQLiteError) in try writer.restartStream() }, completed)
    }

    private func submit<Value: Sendable>(
        _ body: @escaping (HistoryWriter) throws(SQLiteError) -> Value,
        _ completed: @escaping (Result<Value, SQLiteError>) -> Void
    ) {
        let reloads = mustReload
        mustReload = false
        let job = IndexerJob<Value>(on: loop) { writer throws(SQLiteError) in
            if reloads { try writer.reload() }
            return try body(writer)
        } completed: { [self] result in
            if case .failure = result { mustReload = true }
            completed(result)
        }
        do throws(SQLiteError) {
            try thread.submit(job)
        } catch {
            mustReload = true
            completed(.failure(error))
        }
    }

    /// Closes the files. A running transaction is interrupted, and its messages must be written again.
    ///
    /// - Parameter closed: Called on the loop.
    package func close(_ closed: @escaping @Sendable () -> Void) { thread.close(on: loop, closed) }
}
