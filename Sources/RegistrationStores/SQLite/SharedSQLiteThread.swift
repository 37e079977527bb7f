import EventLoop
import Registrations
import SQLite
import Threads

/// A thread of a store, which all loops of the process share. It runs from the first `join` to the last `leave`.
///
/// All functions may be called on any thread.
final class SharedSQLiteThread: Sendable {
    typealias Thread = SQLiteThread<SQLiteSession>

    private let path: String
    private let access: SQLiteFile.Access
    private let keys: RegistrationKeys
    private let lock = ThreadLock()
    /// The lock guards this property.
    private nonisolated(unsafe) var running: (thread: Thread, userCount: Int)?

    init(_ path: String, _ access: SQLiteFile.Access, _ keys: RegistrationKeys) {
        (self.path, self.access, self.keys) = (path, access, keys)
    }

    /// Returns the running thread, or starts one. The jobs of the caller wait until it has opened the file.
    ///
    /// - Throws: `memory` if the system has no thread left.
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
                // The first job of each user reports the outcome on its own loop.
                opened: { _ in })
            return .success(thread)
        } catch {
            return .failure(SQLiteError(.memory, "cannot use \(path): \(error)"))
        }
    }

    /// Ends the use of a thread that opened its file. After the last user, the file is closed.
    ///
    /// - Parameter left: Called on `loop`, after the file is closed if this was the last user.
    func leave(_ thread: Thread, on loop: EventLoop, _ left: @escaping @Sendable () -> Void) {
        let isLast = lock.withLock {
            guard let count = running?.userCount, running?.thread === thread else { return false }
            running = count > 1 ? (thread, count - 1) : nil
            return count == 1
        }
        if isLast { thread.close(on: loop, left) } else { loop.post(left) }
    }

    /// Forgets a thread that could not open its file, and has ended. The next `join` starts another one.
    func forget(_ thread: Thread) {
        lock.withLock { if running?.thread === thread { running = nil } }
    }
}
