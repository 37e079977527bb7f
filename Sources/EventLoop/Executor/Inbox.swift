import Threads

/// A thread-safe queue of jobs and work for a loop. The first addition after each `take` requires a wake-up.
///
/// `@unchecked Sendable`: every access to the stored state holds the lock.
final class Inbox: @unchecked Sendable {
    private let lock = ThreadLock()
    private var jobs: [UnownedJob] = []
    private var work: [@Sendable () -> Void] = []
    private var total = 0
    private var isOpen = true

    /// Adds a job. Returns whether the loop must be woken.
    func add(_ job: UnownedJob) -> Bool {
        lock.withLock {
            let first = jobs.isEmpty && work.isEmpty
            jobs.append(job)
            total += 1
            return first
        }
    }

    /// Adds work. Returns whether the loop must be woken. After the end of the loop, `item` is released without being
    /// called.
    func add(_ item: @escaping @Sendable () -> Void) -> Bool {
        lock.withLock {
            guard isOpen else { return false }
            let first = jobs.isEmpty && work.isEmpty
            work.append(item)
            return first
        }
    }

    /// Accepts work again, because the loop begins to run.
    func open() { lock.withLock { isOpen = true } }

    /// Releases pending work after the end of the loop. The work may retain the loop itself.
    func close() {
        // Deinitializers of released work may add work, so release it outside the lock.
        _ = lock.withLock { () -> [@Sendable () -> Void] in
            isOpen = false
            defer { work = [] }
            return work
        }
    }

    var isEmpty: Bool { lock.withLock { jobs.isEmpty && work.isEmpty } }

    /// The number of jobs added since the loop was created.
    var jobsAdded: Int { lock.withLock { total } }

    /// Moves all added jobs and work to the loop's queues.
    func take(jobs ready: inout JobQueue, work deferred: inout [() -> Void]) {
        lock.withLock {
            for job in jobs { ready.append(QueuedJob(job: job)) }
            for item in work { deferred.append(item) }
            jobs.removeAll(keepingCapacity: true)
            work.removeAll(keepingCapacity: true)
        }
    }
}
