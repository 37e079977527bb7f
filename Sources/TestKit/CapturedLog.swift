import Glibc
public import Telemetry

/// A log whose lines a test can read. The pipe holds at most 64 KiB.
public final class CapturedLog {
    public let log: Log
    private var ends: [Int32] = [-1, -1]

    /// Creates a log and its pipe.
    ///
    /// - Throws: `ProcessError` if no pipe can be created.
    public init(level: LogLevel = .info) throws(ProcessError) {
        guard pipe(&ends) == 0 else { throw ProcessError(errno, "cannot create a pipe") }
        // Reading an empty pipe must not block, and child processes must not inherit the pipe.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        log = Log(level: level, descriptor: ends[1])
    }

    deinit {
        close(ends[0])
        close(ends[1])
    }

    /// Returns the lines written since the last call.
    public func lines() -> [String] {
        log.flush()
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(ends[0], &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
