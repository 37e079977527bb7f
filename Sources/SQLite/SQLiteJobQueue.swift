import EventLoop
import Threads

/// Jobs that wait for the thread of a file, and the state of that thread.
///
/// `@unchecked Sendable`: the lock guards all mutable state.
final class SQLiteJobQueue<Statements>: @unchecked Sendable {
    typealias Job = SQLiteJob<Statements>

    private enum State {
        /// The thread opens the file. Jobs wait.
        case opening
        /// Jobs run. The file is present so that another thread can interrupt it.
        case open(SQLiteFile)
        /// No job is accepted. Next: `ended`.
        case closing
        /// The file is closed. The error is that of a failed open, or `closed`.
        case ended(SQLiteError)
    }

    static var closed: SQLiteError { SQLiteError(.closed, "cannot run a job: the database is closed") }

    private let limits: SQLiteJobLimits
    private let lock = ConditionLock()
    private var state = State.opening
    private var waiting: [Job] = []
    /// What to do once the file is closed.
    private var whenEnded: [@Sendable () -> Void] = []

    init(_ limits: SQLiteJobLimits) {
        self.limits = limits
    }

    /// Adds a job, or returns the error for which it is refused. Callable from any thread.
    func add(_ job: Job) -> SQLiteError? {
        lock.withLock {
            switch state {
            case .closing: return Self.closed
            case .ended(let error): return error
            case .opening, .open: break
            }
            guard waiting.count < limits.jobsWaitingMax else {
                return SQLiteError(.queueFull, "cannot run a job: \(waiting.count) jobs wait for the database")
            }
            waiting.append(job)
            // Otherwise, the thread is running and finds the job, or was woken before.
            if waiting.count == 1 { lock.wakeAll() }
            return nil
        }
    }

    /// Stops the thread: interrupts the running statement, and refuses jobs. Callable from any thread.
    ///
    /// - Parameter ended: Called once the file is closed, on any thread.
    func close(_ ended: @escaping @Sendable () -> Void) {
        let hasEnded = lock.withLock { () -> Bool in
            switch state {
            case .open(let file):
                file.interrupt()
                state = .closing
            case .opening: state = .closing
            case .closing: break
            case .ended: return true
            }
            whenEnded.append(ended)
            lock.wakeAll()
            return false
        }
        if hasEnded { ended() }
    }

    // MARK: The thread of the file

    /// Jobs may run. Has no effect if the thread is to stop.
    func opened(_ file: SQLiteFile) {
        lock.withLock { if case .opening = state { state = .open(file) } }
    }

    /// Waits for jobs and moves them to `batch`, which is empty; returns false if the thread is to stop. Blocks.
    func take(_ batch: inout [Job]) -> Bool {
        lock.withLock {
            lock.wait { !waiting.isEmpty || isClosing }
            guard !isClosing else { return false }
            if waiting.count <= limits.jobsPerTransactionMax {
                swap(&batch, &waiting)
            } else {
                batch += waiting.prefix(limits.jobsPerTransactionMax)
                waiting.removeFirst(limits.jobsPerTransactionMax)
            }
            return true
        }
    }

    /// Whether the thread is to stop.
    var mustStop: Bool { lock.withLock { isClosing } }

    /// The file is closed. Returns the jobs that have not run, and what to do after they were handed back.
    func end(_ error: SQLiteError) -> (jobs: [Job], whenEnded: [@Sendable () -> Void]) {
        lock.withLock {
            defer { (waiting, whenEnded) = ([], []) }
            state = .ended(error)
            return (waiting, whenEnded)
        }
    }

    /// Call only with the lock.
    private var isClosing: Bool {
        switch state {
        case .opening, .open: false
        case .closing, .ended: true
        }
    }
}
