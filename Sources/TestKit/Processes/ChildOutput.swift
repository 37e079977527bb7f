import EventLoop
import Glibc
import Telemetry
import Threads

/// The lines that a process writes to a pipe.
///
/// `@unchecked Sendable`: the lock `state` protects the mutable properties.
public final class ChildOutput: @unchecked Sendable {
    private let state = ConditionLock()
    private let lineEnd: UInt8
    private var lines: [String] = []
    private var nextIndex = 0
    private var hasEnded: Bool

    /// Starts to read a pipe on a thread.
    ///
    /// - Parameter descriptor: The pipe, which this object reads and closes; nil if there is none.
    init(reading descriptor: Int32?, lineEnd: UInt8) {
        self.lineEnd = lineEnd
        hasEnded = descriptor == nil
        if let descriptor { DetachedThread.require { [self] in read(descriptor) } }
    }

    /// Returns the next line that matches. Skips the lines before it.
    ///
    /// - Throws: `ProcessError` with the last lines if no line matches in time or before the output ends.
    public func line(
        within: Duration = TestTimeout.duration, where matches: @escaping @Sendable (String) -> Bool = { _ in true }
    ) async throws(ProcessError) -> String {
        let milliseconds = within.wholeMilliseconds
        let found = await DetachedThread.run { [self] in
            state.withLock { () -> Result<String, ProcessError> in
                var match: String?
                func isDone() -> Bool {
                    while match == nil && nextIndex < lines.count {
                        if matches(lines[nextIndex]) { match = lines[nextIndex] }
                        nextIndex += 1
                    }
                    return match != nil || hasEnded
                }
                let inTime = state.wait(atMostMilliseconds: milliseconds, until: isDone)
                if let match { return .success(match) }
                let reason = inTime ? "output ended before the expected line" : "no matching line within \(within)"
                return .failure(ProcessError("\(reason); last lines:\n" + lines.suffix(20).joined(separator: "\n")))
            }
        }
        return try found.get()
    }

    /// Waits until the output has ended and returns all lines.
    public func allLines() async -> [String] {
        await DetachedThread.run { [self] in
            state.withLock {
                state.wait { hasEnded }
                return lines
            }
        }
    }

    /// The lines written so far.
    public var linesSoFar: [String] { state.withLock { lines } }

    private func read(_ descriptor: Int32) {
        var pending: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == -1 && errno == EINTR { continue }
            let isEnd = count <= 0
            pending += chunk[..<max(count, 0)]
            var pieces = pending.split(separator: lineEnd, omittingEmptySubsequences: false)
            pending = Array(pieces.removeLast())
            if isEnd && !pending.isEmpty { pieces.append(pending[...]) }
            let complete = pieces.map { String(decoding: $0, as: UTF8.self) }
            state.withLock {
                lines += complete
                hasEnded = isEnd
                state.wakeAll()
            }
            if isEnd { break }
        }
        close(descriptor)
    }
}
