import Threads

/// Lines of all lanes that wait for the control loop. `add` never waits for a publish. Beyond
/// `JournalBuffer.bytesMax` of waiting lines, the lines of a lane are dropped and counted.
///
/// `@unchecked Sendable`: the lock guards all mutable state.
public final class JournalQueue: @unchecked Sendable {
    /// A lane's chunk.
    private struct Waiting {
        let lane: Int
        let chunk: JournalBuffer.Chunk
    }

    /// The amounts in the queue.
    public struct Amounts: Sendable, Hashable {
        public var byteCount = 0
        /// The number of lines that were dropped since the process began, in lanes or in the queue.
        public var droppedCount = 0

        public init(byteCount: Int = 0, droppedCount: Int = 0) {
            (self.byteCount, self.droppedCount) = (byteCount, droppedCount)
        }
    }

    private let lock = ThreadLock()
    private var waiting: [Waiting] = []
    /// The index of the first chunk in `waiting` that has not been taken.
    private var first = 0
    private var bytesByLane: [Int: Int] = [:]
    private var state = Amounts()
    private var isSignaled = false
    private var notification: (@Sendable () -> Void)?

    public init() {}

    /// Sets the function that `add` calls, at most once until `amounts()` is called. Lanes call the function on their
    /// threads.
    public func notify(_ notification: (@Sendable () -> Void)?) {
        lock.withLock {
            self.notification = notification
            isSignaled = false
        }
    }

    /// Queues the lines of a lane.
    public func add(_ buffer: JournalBuffer, ofLane lane: Int) {
        let signal: (@Sendable () -> Void)? = lock.withLock {
            state.droppedCount += buffer.droppedCount
            for chunk in buffer.chunks {
                let bytes = bytesByLane[lane, default: 0] + chunk.lines.count
                if bytes > JournalBuffer.bytesMax {
                    state.droppedCount += chunk.lineCount
                } else {
                    waiting.append(Waiting(lane: lane, chunk: chunk))
                    bytesByLane[lane] = bytes
                    state.byteCount += chunk.lines.count
                }
            }
            defer { isSignaled = true }
            return isSignaled ? nil : notification
        }
        signal?()
    }

    /// Returns the amounts in the queue. A later `add` calls the function of `notify` again.
    public func amounts() -> Amounts {
        lock.withLock {
            isSignaled = false
            return state
        }
    }

    /// Removes and returns the oldest lines, of at most `JournalBuffer.chunkBytesMax` bytes. Returns a chunk without
    /// lines if no lines wait.
    public func takeChunk() -> JournalBuffer.Chunk {
        lock.withLock {
            var taken = JournalBuffer.Chunk()
            while first < waiting.count {
                let next = waiting[first]
                let size = taken.lines.count + 1 + next.chunk.lines.count
                guard taken.lineCount == 0 || size <= JournalBuffer.chunkBytesMax else { break }
                taken.append(next.chunk)
                first += 1
                bytesByLane[next.lane, default: 0] -= next.chunk.lines.count
                state.byteCount -= next.chunk.lines.count
            }
            removeTaken()
            return taken
        }
    }

    /// Frees the memory of taken chunks. The cost of each chunk is constant on average.
    private func removeTaken() {
        if first == waiting.count {
            waiting.removeAll()
            first = 0
        } else if first > waiting.count / 2 {
            waiting.removeFirst(first)
            first = 0
        }
    }
}
