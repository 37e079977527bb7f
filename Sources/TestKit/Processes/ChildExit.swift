import Glibc

/// The exit status and the resource usage of a process.
public struct ChildExit: Sendable {
    public enum Status: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
    }

    public let status: Status
    public let usage: ResourceUsage

    init(waitStatus: Int32, usage: rusage) {
        // Swift cannot call the C macros WIFSIGNALED, WTERMSIG and WEXITSTATUS, so the code repeats them.
        let signal = waitStatus & 0x7f
        status = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
        self.usage = ResourceUsage(usage)
    }
}

/// The CPU time of a process, as counted by the kernel.
///
/// Memory is missing because the kernel's peak includes the memory of the process that forked the child.
public struct ResourceUsage: Sendable {
    public let userTime: Duration
    public let systemTime: Duration
    public var time: Duration { userTime + systemTime }

    init(_ usage: rusage) {
        userTime = .seconds(usage.ru_utime.tv_sec) + .microseconds(usage.ru_utime.tv_usec)
        systemTime = .seconds(usage.ru_stime.tv_sec) + .microseconds(usage.ru_stime.tv_usec)
    }
}
