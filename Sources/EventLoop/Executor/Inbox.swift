import Threads

/// What other threads hand to a loop: jobs and work. A wake-up is asked for by the first to add after each take.
///
/// `@unchecked Sendable`: every access to the stored state holds the lock.
final class Inbox: @unchecked Sendable {
    private let lock = ThreadLock()
    private var jobs: [UnownedJob] = []
    private var work: [@Sendable () -> Void] = []
    private var total = 0
    private var isOpen = true

    /// Returns whether the loop has to be woken.
    func add(_ job: UnownedJob) -> Bool {
        lock.withLock {
            let first = jobs.isEmpty && work.isEmpty
            jobs.append(job)
            total += 1
            return first
        }
    }

    /// Returns whether the loop has to be woken. A loop that has ended lets go of it.
    func add(_ item: @escaping @Sendable () -> Void) -> Bool {
        lock.withLock {
            guard isOpen else { return false }
            let first = jobs.isEmpty && work.isEmpty
            work.append(item)
            return first
        }
    }

    /// The loop begins to run, maybe again.
    func open() { lock.withLock { isOpen = true } }

    /// The loop has ended: what it would not do any more may hold the loop itself.
    func close() {
        // What is let go of may add something: not under the lock.
        _ = lock.withLock { () -> [@Sendable () -> Void] in
            isOpen = false
            defer { work = [] }
            return work
        }
    }

    var isEmpty: Bool { lock.withLock { jobs.isEmpty && work.isEmpty } }

    /// Jobs added since the loop was made.
    var jobsAdded: Int { lock.withLock { total } }

    /// Moves all that was added to the loop's own queues.
    func take(jobs ready: inout JobQueue, work deferred: inout [() -> Void]) {
        lock.withLock {
            for job in jobs { ready.append(QueuedJob(job: job)) }
            for item in work { deferred.append(item) }
            jobs.removeAll(keepingCapacity: true)
            work.removeAll(keepingCapacity: true)
        }
    }
}
