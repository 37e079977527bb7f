import EventLoop
import Threads

/// Jobs that wait for the thread of a file, and the state of that thread.
///
/// `@unchecked Sendable`: the lock guards all mutable state.
final class SQLiteJobQueue<Statements>: @unchecked Sendable {
    typealias Job = SQLiteJob<Statements>

    private enum State {
        /// The opening of the file by the thread. Jobs wait.
        case opening
        /// An open file on which jobs run. The state contains the file so that another thread can interrupt a
        /// statement.
        case open(SQLiteFile)
        /// A queue that accepts no job. Next: `ended`.
        case closing
        /// A closed file. The error is the one that prevented jobs from running, or `closed`.
        case ended(SQLiteError)
    }

    static var closed: SQLiteError { SQLiteError(.closed, "cannot run a job: the database is closed") }

    private let limits: SQLiteJobLimits
    private let lock = ConditionLock()
    private var state = State.opening
    private var waiting: [Job] = []
    /// The closures to call once the file is closed.
    private var whenEnded: [@Sendable () -> Void] = []

    init(_ limits: SQLiteJobLimits) {
        self.limits = limits
    }

    /// Adds a job, or returns the error for which the queue refuses it. Callable from any thread.
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
            // If other jobs wait, the thread is running and finds this job, or was already woken.
            if waiting.count == 1 { lock.wakeAll() }
            return nil
        }
    }

    /// Stops the thread. Interrupts its running statement, and refuses further jobs. Callable from any thread.
    ///
    /// - Parameter ended: Called on any thread after the file is closed.
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

    /// Whether the queue refuses all further jobs, because the file is closed or could not be opened. True before the
    /// jobs that have not run are handed back. Callable from any thread.
    var hasEnded: Bool {
        lock.withLock {
            switch state {
            case .ended: true
            case .opening, .open, .closing: false
            }
        }
    }

    // MARK: The thread of the file

    /// Records that the file is open. Has no effect if the thread must stop.
    func opened(_ file: SQLiteFile) {
        lock.withLock { if case .opening = state { state = .open(file) } }
    }

    /// Waits for jobs, and moves those of one transaction to `batch`, which is empty. Returns false if the thread must
    /// stop. Blocks.
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

    var mustStop: Bool { lock.withLock { isClosing } }

    /// Records that the file is closed. Returns the jobs that have not run, and the closures to call after those jobs
    /// are handed back.
    func end(_ error: SQLiteError) -> (jobs: [Job], whenEnded: [@Sendable () -> Void]) {
        lock.withLock {
            defer { (waiting, whenEnded) = ([], []) }
            state = .ended(error)
            return (waiting, whenEnded)
        }
    }

    /// Whether the thread must stop. Call it only while the lock is held.
    private var isClosing: Bool {
        switch state {
        case .opening, .open: false
        case .closing, .ended: true
        }
    }
}
