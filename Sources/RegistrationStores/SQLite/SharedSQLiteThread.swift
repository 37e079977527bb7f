import EventLoop
import Registrations
import SQLite
import Threads

/// A thread for an SQLite file, shared by several loops. It starts at the first `join`. It ends at the last `leave`, or
/// if it cannot open the file.
///
/// All functions may be called on any thread.
final class SharedSQLiteThread: Sendable {
    typealias Thread = SQLiteThread<SQLiteSession>

    private let path: String
    private let access: SQLiteFile.Access
    private let keys: RegistrationKeys
    private let lock = ThreadLock()
    /// Guarded by `lock`.
    private nonisolated(unsafe) var running: (thread: Thread, userCount: Int)?

    init(_ path: String, _ access: SQLiteFile.Access, _ keys: RegistrationKeys) {
        (self.path, self.access, self.keys) = (path, access, keys)
    }

    /// Returns the running thread, or starts one. Submitted jobs wait until the thread has opened the file.
    ///
    /// - Throws: ``SQLiteError`` of code `memory` if the system cannot start a thread.
    func join(on loop: EventLoop) throws(SQLiteError) -> Thread {
        try lock.withLock { () -> Result<Thread, SQLiteError> in
            if let thread = running?.thread {
                running?.userCount += 1
                return .success(thread)
            }
            return start(on: loop).map { thread in
                running = (thread, 1)
                return thread
            }
        }.get()
    }

    private func start(on loop: EventLoop) -> Result<Thread, SQLiteError> {
        let (thread, keys) = (Thread(), keys)
        do throws(ThreadError) {
            try thread.start(
                path, access, schema: .registrations, on: loop,
                prepare: { file throws(SQLiteError) in try SQLiteSession(file, keys) },
                // An `SQLiteOpenJob` reports the outcome on the loop of each user.
                opened: { _ in })
            return .success(thread)
        } catch {
            return .failure(SQLiteError(.memory, "cannot use \(path): \(error)"))
        }
    }

    /// Ends one use of a thread. The end of the last use closes the file.
    ///
    /// - Parameter left: Called on `loop`; for the last use, after the file is closed.
    func leave(_ thread: Thread, on loop: EventLoop, _ left: @escaping @Sendable () -> Void) {
        let isLast = lock.withLock {
            guard let count = running?.userCount, running?.thread === thread else { return false }
            running = count > 1 ? (thread, count - 1) : nil
            return count == 1
        }
        if isLast { thread.close(on: loop, left) } else { loop.post(left) }
    }

    /// Forgets a thread that has ended because it could not open its file. The next `join` starts another thread.
    ///
    /// The caller must not forget a thread that runs. The other users would never close its file. The lock of a writer
    /// would prevent the next thread from opening the file.
    func forget(_ thread: Thread) {
        precondition(thread.hasEnded, "cannot forget the thread of \(path): it runs")
        lock.withLock { if running?.thread === thread { running = nil } }
    }
}
