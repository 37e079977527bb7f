import EventLoop
import Registrations
import SQLite

/// A connection of one loop to a shared thread of a store. If the thread cannot open the file, the link repeats the
/// attempt until `close`.
///
/// Loop-bound.
final class SQLiteThreadLink {
    private typealias Thread = SharedSQLiteThread.Thread

    private enum State {
        /// Before `start`. Next: `opening`, `waiting` or `closed`.
        case idle
        /// The opening of the file, for which jobs wait. Next: `open`, `waiting` or `closed`.
        case opening(Thread)
        /// An open file on which jobs run. Errors of jobs and of their transactions do not close the file. Next:
        /// `closed`.
        case open(Thread)
        /// The wait after a failed attempt to open the file. Next: `opening`, `waiting` or `closed`.
        case waiting(TimerToken, StoreFault)
        case closed
    }

    /// Minimum delay before an attempt to open the file again.
    static let reopenMillisecondsMin = 50
    /// Maximum delay after the first failure. It doubles with each further failure, up to `reopenMillisecondsMax`.
    static let reopenMilliseconds = 100
    /// Maximum delay after many failures.
    static let reopenMillisecondsMax = 5000

    let loop: EventLoop
    private let shared: SharedSQLiteThread
    private var state = State.idle
    private var backoff = Backoff(
        least: .milliseconds(reopenMillisecondsMin), first: .milliseconds(reopenMilliseconds),
        longest: .milliseconds(reopenMillisecondsMax), healthyAfter: .zero)
    private var onChange: ((StoreFault?) -> Void)?
    /// The number of jobs that the thread has not handed back.
    private var jobCount = 0
    private let whenDrained = ContinuationList<Void>()

    init(_ shared: SharedSQLiteThread, on loop: EventLoop) {
        (self.shared, self.loop) = (shared, loop)
    }

    /// Joins the thread of the file.
    ///
    /// - Parameter onChange: Called with nil when the file is open, and with the fault of each attempt that fails.
    func start(onChange: @escaping (StoreFault?) -> Void) {
        loop.assertOnLoop()
        guard case .idle = state else {
            preconditionFailure("cannot start a reader or writer: it was started or closed before")
        }
        self.onChange = onChange
        join()
    }

    private func join() {
        do throws(SQLiteError) {
            let thread = try shared.join(on: loop)
            state = .opening(thread)
            submit(SQLiteOpenJob(self))
        } catch {
            wait(after: StoreFault(error))
        }
    }

    /// Hands a job to the thread. If this is not possible, the job fails after this function has returned.
    func submit(_ job: SQLiteStoreJob) {
        loop.assertOnLoop()
        switch state {
        case .opening(let thread), .open(let thread):
            do throws(SQLiteError) {
                try thread.submit(job)
                jobCount += 1
            } catch {
                let fault = StoreFault(error)
                loop.later { job.failed(fault) }
            }
        case .waiting(_, let fault): loop.later { job.failed(fault) }
        case .idle, .closed: loop.later { job.failed(.notOpen) }
        }
    }

    /// Records that the thread has handed back a job.
    func jobCompleted() {
        jobCount -= 1
        if jobCount == 0 { whenDrained.resume(returning: ()) }
    }

    /// Receives the outcome of the first job; nil if the job succeeded.
    func opened(_ fault: StoreFault?) {
        guard case .opening(let thread) = state else { return }
        if let fault, thread.hasEnded {
            shared.forget(thread)
            wait(after: fault)
        } else {
            // The file is open even if the transaction of the job failed, for example because the file has moved. The
            // next jobs report such a fault, and continue once its cause is gone.
            state = .open(thread)
            onChange?(nil)
        }
    }

    private func wait(after fault: StoreFault) {
        let delay = backoff.failed(isRetriable: true, now: loop.now.monotonic, random: loop.nextRandom())
        state = .waiting(loop.schedule(after: delay) { [self] in join() }, fault)
        onChange?(fault)
    }

    /// Waits until all jobs are handed back, and leaves the thread.
    func close() async {
        loop.assertOnLoop()
        let thread: Thread?
        switch state {
        case .opening(let current), .open(let current): thread = current
        case .waiting(let timer, _):
            loop.cancel(timer)
            thread = nil
        case .idle, .closed: thread = nil
        }
        state = .closed
        onChange = nil
        if jobCount > 0 { await whenDrained.wait() }
        guard let thread else { return }
        await withUnsafeContinuation { continuation in
            shared.leave(thread, on: loop) { continuation.resume() }
        }
    }
}
