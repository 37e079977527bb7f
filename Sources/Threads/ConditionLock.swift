package import CLinux

/// A pthread mutex with a condition variable, for threads that wait for one another.
///
/// `@unchecked Sendable`: both live at one address for as long as the object and are made for several threads.
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

    /// Wakes all threads that wait for a condition. Only within `withLock`.
    package func wakeAll() {
        pthread_cond_broadcast(condition)
    }

    /// Releases the lock until `condition` is true. Only within `withLock`.
    package func wait(until condition: () -> Bool) {
        while !condition() { pthread_cond_wait(self.condition, mutex) }
    }

    /// Releases the lock until `condition` is true or the time has passed; returns whether the condition is true. Only
    /// within `withLock`.
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
