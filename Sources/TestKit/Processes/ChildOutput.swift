import EventLoop
import Glibc
import Telemetry
import Threads

/// What a process writes to a pipe, line by line, kept as it comes.
///
/// `@unchecked Sendable`: what changes is behind `state`.
public final class ChildOutput: @unchecked Sendable {
    private let state = ConditionLock()
    private let lineEnd: UInt8
    private var lines: [String] = []
    private var taken = 0
    private var hasEnded: Bool

    /// - Parameter descriptor: a pipe, read and closed here; `nil` when there is none.
    init(reading descriptor: Int32?, lineEnd: UInt8) {
        self.lineEnd = lineEnd
        hasEnded = descriptor == nil
        if let descriptor { DetachedThread.require { [self] in read(descriptor) } }
    }

    /// The next line for which `matches` holds; those before it are passed over.
    ///
    /// - Throws: `ProcessError` with the last lines when there is none in time or the output ends before it.
    public func line(
        within: Duration = TestTimeout.duration, where matches: @escaping @Sendable (String) -> Bool = { _ in true }
    ) async throws(ProcessError) -> String {
        let milliseconds = within.wholeMilliseconds
        let found = await DetachedThread.run { [self] in
            state.withLock { () -> Result<String, ProcessError> in
                var match: String?
                func isDone() -> Bool {
                    while match == nil && taken < lines.count {
                        if matches(lines[taken]) { match = lines[taken] }
                        taken += 1
                    }
                    return match != nil || hasEnded
                }
                let inTime = state.wait(atMostMilliseconds: milliseconds, until: isDone)
                if let match { return .success(match) }
                let why = inTime ? "ended before the line that was awaited" : "no such line within \(within)"
                return .failure(ProcessError("\(why); its last lines:\n" + lines.suffix(20).joined(separator: "\n")))
            }
        }
        return try found.get()
    }

    /// All lines, once the output has ended.
    public func allLines() async -> [String] {
        await DetachedThread.run { [self] in
            state.withLock {
                state.wait { hasEnded }
                return lines
            }
        }
    }

    /// The lines that have come by now.
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
