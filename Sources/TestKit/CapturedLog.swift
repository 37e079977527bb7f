import Glibc
public import Telemetry

/// A log whose lines a test reads. Holds 64 KiB of them.
public final class CapturedLog {
    public let log: Log
    private var ends: [Int32] = [-1, -1]

    /// - Throws: `ProcessError` when the process is out of descriptors.
    public init(level: LogLevel = .info) throws(ProcessError) {
        guard pipe(&ends) == 0 else { throw ProcessError("no pipe") }
        // Nothing there is no reason to wait, and a child process is not to hold it open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        log = Log(level: level, descriptor: ends[1])
    }

    deinit {
        close(ends[0])
        close(ends[1])
    }

    /// The lines that were written since this was last asked for.
    public func lines() -> [String] {
        log.flush()
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(ends[0], &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
