import CLinux
import Glibc
import Threads

/// Queued log lines, and the thread that writes them to a descriptor.
///
/// `append` holds the lock only while it copies a line, and the thread writes without the lock. If the reader of
/// standard error stalls, the queue fills, and further lines are dropped and counted. At the level `info`, a request
/// logs no line on its normal path, so requests do not contend for the lock.
///
/// `@unchecked Sendable`: the lock guards all mutable state.
final class LogQueue: @unchecked Sendable {
    private let descriptor: Int32
    private let bytesMax: Int
    private let lock = ConditionLock()
    private var waiting: [UInt8] = []
    private var dropped = 0
    private var droppedTotal = 0
    private var isWriting = false
    private var hasThread = false
    private var isClosed = false

    init(descriptor: Int32, bytesMax: Int) {
        self.descriptor = descriptor
        self.bytesMax = bytesMax
    }

    func append(_ line: [UInt8]) {
        lock.withLock {
            guard !isClosed, waiting.count + line.count <= bytesMax else {
                dropped += 1
                droppedTotal += 1
                return
            }
            waiting.append(contentsOf: line)
            if !hasThread { hasThread = (try? DetachedThread.start(signals: .blocked) { [self] in run() }) != nil }
            lock.wakeAll()
        }
    }

    /// The number of lines dropped since the start.
    var droppedCount: Int { lock.withLock { droppedTotal } }

    /// Waits until all lines are written. Returns false on timeout. If no thread could be started, the calling thread
    /// writes the lines, without a timeout.
    func flush(withinMilliseconds milliseconds: Int) -> Bool {
        lock.withLock {
            if !hasThread {
                write(waiting)
                waiting.removeAll()
            }
            return lock.wait(atMostMilliseconds: milliseconds) { waiting.isEmpty && !isWriting }
        }
    }

    /// Lets the thread exit after it has written the queued lines. Drops later lines.
    func close() {
        lock.withLock {
            isClosed = true
            lock.wakeAll()
        }
    }

    private func run() {
        var batch: [UInt8] = []
        while takeBatch(&batch) { write(batch) }
    }

    /// Waits for lines and moves them to `batch`, followed by a line about dropped lines, if any. Returns false if the
    /// queue is closed and empty.
    private func takeBatch(_ batch: inout [UInt8]) -> Bool {
        lock.withLock {
            isWriting = false
            lock.wakeAll()
            lock.wait { !waiting.isEmpty || isClosed }
            guard !waiting.isEmpty else { return false }
            isWriting = true
            batch.removeAll(keepingCapacity: true)
            swap(&batch, &waiting)
            if dropped > 0 {
                var line = LogLine(level: .warning, event: .logDropped)
                line.append(.logDropped, .integer(dropped))
                line.end()
                batch.append(contentsOf: line.bytes)
                dropped = 0
            }
            return true
        }
    }

    /// Writes all bytes, without a timeout. Stops on an error other than EAGAIN and EINTR.
    private func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(descriptor, part.baseAddress, part.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count < 0, errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if count == 0 || errno != EINTR {
                    return
                }
            }
        }
    }
}
