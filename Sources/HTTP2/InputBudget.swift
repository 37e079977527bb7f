import EventLoop

/// How much a client may send that leads to no answer: PING, SETTINGS, PRIORITY, requests that it resets, bodies without
/// end, frames that nobody knows. All that is cheap to send and costs some work. What belongs to an answer is paid for
/// by it.
struct InputBudget {
    /// So many bytes cost as much as a frame.
    private static let bytesPerFrame = 1024
    /// What a request and its answer take: header block, body, windows, a PING between them.
    private static let framesPerAnswer = 32
    /// What a request costs that the client takes back at once, or that is too large: more work than a frame.
    private static let framesPerWaste = 20
    /// A stream that a client gave up after so long is one whose answer it waited for.
    private static let patienceSeconds: Int64 = 1

    private let framesMax: Int
    private let framesPerSecond: Int
    private var left: Int
    private var bytes = 0
    private var lastRefill: MonotonicTime

    init(framesMax: Int, framesPerSecond: Int, now: MonotonicTime) {
        self.framesMax = framesMax
        self.framesPerSecond = framesPerSecond
        left = framesMax
        lastRefill = now
    }

    /// A frame has begun.
    mutating func spendFrame() { left -= 1 }

    /// Bytes were read, whatever they were.
    mutating func spend(bytes count: Int) {
        bytes += count
        left -= bytes / Self.bytesPerFrame
        bytes %= Self.bytesPerFrame
    }

    /// Whether there was more than there may be.
    mutating func isSpent(at now: MonotonicTime) -> Bool {
        guard left < 0 else { return false }
        let seconds = lastRefill.duration(to: now).components.seconds
        guard seconds > 0 else { return true }
        lastRefill = lastRefill + .seconds(seconds)
        add(min(Int(clamping: seconds), framesMax) * framesPerSecond)
        return left < 0
    }

    /// A stream has ended.
    ///
    /// - Parameters:
    ///   - wasAnswered: whether it was this side that ended it, with an answer.
    ///   - wasRefused: whether this side did not want it.
    mutating func streamEnded(wasAnswered: Bool, wasRefused: Bool, began: MonotonicTime, at now: MonotonicTime) {
        if wasAnswered || began.duration(to: now) >= .seconds(Self.patienceSeconds) {
            add(Self.framesPerAnswer)
        } else if !wasRefused {
            left -= Self.framesPerWaste
        }
    }

    private mutating func add(_ frames: Int) { left = min(framesMax, left + frames) }
}
