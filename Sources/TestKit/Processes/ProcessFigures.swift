package import Glibc

/// The kernel's statistics of a running process.
package enum ProcessFigures {
    /// Returns the user and system time of all threads; zero if the process does not exist.
    package static func processorTime(of pid: pid_t) -> Duration {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Returns user and system time separately, with a resolution of 10 ms; zero if the process does not exist.
    static func splitProcessorTime(of pid: pid_t) -> (user: Duration, system: Duration) {
        guard let text = read("stat", of: pid) else { return (.zero, .zero) }
        // The second field is the command in parentheses, which may contain any characters. User time is the 14th
        // field.
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Int(fields[12]), let system = Int(fields[13]) else { return (.zero, .zero) }
        let ticksPerSecond = sysconf(Int32(_SC_CLK_TCK))
        return (.seconds(user) / ticksPerSecond, .seconds(system) / ticksPerSecond)
    }

    /// Returns the peak resident memory in bytes; zero if the process does not exist.
    static func peakResidentBytes(of pid: pid_t) -> Int { memory("VmHWM:", of: pid) }

    /// Returns the current resident memory in bytes; zero if the process does not exist.
    static func residentBytes(of pid: pid_t) -> Int { memory("VmRSS:", of: pid) }

    /// Returns the number of entries in a folder of `/proc/PID`; zero if the folder cannot be read.
    static func count(_ folder: String, of pid: pid_t) -> Int {
        (try? Files.names(in: "/proc/\(pid)/\(folder)").count) ?? 0
    }

    private static func memory(_ name: String, of pid: pid_t) -> Int {
        let line = read("status", of: pid)?.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    private static func read(_ name: String, of pid: pid_t) -> String? {
        guard let file = fopen("/proc/\(pid)/\(name)", "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
