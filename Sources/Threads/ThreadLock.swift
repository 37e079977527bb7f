package import CLinux

/// A pthread mutex. It replaces `Synchronization.Mutex`, for which the thread sanitizer of this toolchain reports false
/// races.
///
/// `@unchecked Sendable`: the mutex keeps its address while the object exists, and pthreads makes it thread-safe.
package final class ThreadLock: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init() {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inlinable
    package func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
