import Glibc

/// The time that this thread has used of a processor: what others do meanwhile on the machine does not count.
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
