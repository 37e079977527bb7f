import CLinux

/// A lock with a condition, from pthread: `Synchronization.Mutex` makes the thread sanitizer report races that are none.
///
/// `@unchecked Sendable`: that is what a lock is for.
package final class ThreadCondition: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Within `locked`: has all who wait look again.
    package func wakeAll() {
        pthread_cond_broadcast(condition)
    }

    /// Within `locked`: gives the lock up until `holds` does.
    package func wait(until holds: () -> Bool) {
        while !holds() { pthread_cond_wait(condition, mutex) }
    }

    /// Within `locked`: the same, at most for so long; whether it holds.
    package func wait(atMostMilliseconds milliseconds: Int, until holds: () -> Bool) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = deadline.tv_nsec + milliseconds % 1000 * 1_000_000
        deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        while !holds() {
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return holds() }
        }
        return true
    }
}
