import EventLoop

/// The budget for a client's input that leads to no response. Examples are PING, SETTINGS, PRIORITY, requests that
/// the client resets, endless bodies and unknown frames. Such input is cheap to send but expensive to process. Each
/// response adds to the budget and so covers the frames of its request.
struct InputBudget {
    /// Number of bytes that cost as much as a frame.
    private static let bytesPerFrame = 1024
    /// Number of frames that a request and its response may need. Examples are the header block, the body and window
    /// updates.
    private static let framesPerAnswer = 32
    /// Cost, in frames, of a wasted request. Examples are a request that the client resets immediately, and a malformed
    /// or too large request. Such a request needs more work than one frame.
    private static let framesPerWastedRequest = 20
    /// Age from which a stream without a response does not count as wasted, because the client waited for the
    /// response.
    private static let answerWaitSecondsMin: Int64 = 1

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

    /// Charges a frame.
    mutating func spendFrame() { left -= 1 }

    /// Charges input bytes of any kind.
    mutating func spend(bytes count: Int) {
        bytes += count
        left -= bytes / Self.bytesPerFrame
        bytes %= Self.bytesPerFrame
    }

    /// Returns whether the budget is exceeded. Refills an exceeded budget first, for the time since the last refill.
    mutating func isSpent(at now: MonotonicTime) -> Bool {
        guard left < 0 else { return false }
        let seconds = lastRefill.duration(to: now).components.seconds
        guard seconds > 0 else { return true }
        lastRefill = lastRefill + .seconds(seconds)
        add(min(Int(clamping: seconds), framesMax) * framesPerSecond)
        return left < 0
    }

    /// Credits the budget for a stream that was answered or whose client waited long enough. Charges the budget for a
    /// wasted stream.
    ///
    /// - Parameters:
    ///   - wasAnswered: whether this side sent a complete response.
    ///   - wasRefused: whether the stream was reset with REFUSED_STREAM, as this side does to refuse a stream.
    mutating func streamEnded(wasAnswered: Bool, wasRefused: Bool, began: MonotonicTime, at now: MonotonicTime) {
        if wasAnswered || began.duration(to: now) >= .seconds(Self.answerWaitSecondsMin) {
            add(Self.framesPerAnswer)
        } else if !wasRefused {
            left -= Self.framesPerWastedRequest
        }
    }

    private mutating func add(_ frames: Int) { left = min(framesMax, left + frames) }
}
