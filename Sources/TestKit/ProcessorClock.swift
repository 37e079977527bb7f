import Glibc

/// The CPU time of the current thread, which excludes other work on the machine.
public enum ProcessorClock {
    public static var nanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    public static func nanoseconds(of body: () throws -> Void) rethrows -> Int {
        let start = nanoseconds
        try body()
        return nanoseconds - start
    }
}
