import Glibc

/// How a process ended, and what it used until then.
public struct ChildExit: Sendable {
    public enum Status: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
    }

    public let status: Status
    public let usage: ResourceUsage

    init(waitStatus: Int32, usage: rusage) {
        // As WIFSIGNALED, WTERMSIG and WEXITSTATUS, which are macros.
        let signal = waitStatus & 0x7f
        status = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
        self.usage = ResourceUsage(usage)
    }
}

/// What a process used, as the kernel counted it. Memory is not here: a child's peak counts what it was forked from.
public struct ResourceUsage: Sendable {
    public let userTime: Duration
    public let systemTime: Duration

    init(_ usage: rusage) {
        userTime = .seconds(usage.ru_utime.tv_sec) + .microseconds(usage.ru_utime.tv_usec)
        systemTime = .seconds(usage.ru_stime.tv_sec) + .microseconds(usage.ru_stime.tv_usec)
    }
}
