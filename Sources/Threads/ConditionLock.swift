package import CLinux

/// A pthread mutex with a condition variable.
///
/// `@unchecked Sendable`: the mutex and the condition keep their addresses while the object exists, and pthreads makes
/// them thread-safe.
package final class ConditionLock: @unchecked Sendable {
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
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

    @inlinable
    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Wakes all threads in `wait`. Call this function only within `withLock`.
    package func wakeAll() {
        pthread_cond_broadcast(condition)
    }

    /// Waits until `condition` is true. Releases the lock while it sleeps, and holds the lock while it evaluates
    /// `condition`. Call this function only within `withLock`.
    package func wait(until condition: () -> Bool) {
        while !condition() { pthread_cond_wait(self.condition, mutex) }
    }

    /// Waits until `condition` is true or the timeout has passed, and returns whether `condition` is true. Releases
    /// the lock while it sleeps. Call this function only within `withLock`.
    package func wait(atMostMilliseconds milliseconds: Int, until condition: () -> Bool) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = deadline.tv_nsec + milliseconds % 1000 * 1_000_000
        deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        while !condition() {
            if pthread_cond_timedwait(self.condition, mutex, &deadline) == ETIMEDOUT { return condition() }
        }
        return true
    }
}
