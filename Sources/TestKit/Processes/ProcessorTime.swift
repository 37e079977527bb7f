import Glibc

enum ProcessorTime {
    /// User and system time of all threads of a running process; zero when there is none of that id.
    static func of(_ pid: pid_t) -> Duration {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
