public import EventLoop

/// Decides when the next connection may be opened. APNs takes fast connecting and disconnecting for an attack (Apple,
/// "Establishing a connection to APNs"), so waits grow with each failure, differ between workers, and connects have a
/// limit a minute even when they succeed.
///
/// Pure: it is told the time and what happened.
public struct ReconnectPolicy: Sendable {
    public struct Configuration: Sendable, Hashable {
        /// The wait from the beginning of the first failed attempt to that of the next; doubles with each further one.
        /// An attempt that took longer is followed by the least wait. An attempt that is stopped at one of its limits of
        /// 8 s (TCP, TLS, SETTINGS) is so followed by the next within 10 s, and the end of an outage is soon noticed.
        public var delaySecondsMin: Int64 = 1
        public var delaySecondsMax: Int64 = 9
        /// Half of them may follow each other at once, the others are spread over the minute: else pushes would wait for
        /// its end where a peer ends connections fast.
        public var connectsPerMinuteMax = 12

        public init() {}
    }

    public let configuration: Configuration
    private var failures = 0
    /// No connect before this.
    private var earliest = MonotonicTime(nanoseconds: .min)
    /// When the last connects began, as many as may follow each other at once, the oldest first.
    private var begun: [MonotonicTime] = []
    private let atOnceMax: Int
    /// Between the others, which so fill the rest of a minute: rounded up, or one more would begin within it.
    private let apart: Duration

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let limit = max(1, configuration.connectsPerMinuteMax)
        atOnceMax = max(1, limit / 2)
        let steps = Int64(limit - atOnceMax + 1)
        apart = .milliseconds((60_000 + steps - 1) / steps)
    }

    /// When the next connection may be opened: now or later.
    public func nextConnect(_ now: MonotonicTime) -> MonotonicTime {
        guard let first = begun.first, let last = begun.last, begun.count == atOnceMax else {
            return max(now, earliest)
        }
        return max(now, earliest, min(last + apart, first + .seconds(60)))
    }

    public mutating func connectBegan(_ now: MonotonicTime) {
        begun.append(now)
        if begun.count > atOnceMax { begun.removeFirst() }
    }

    /// A connection has proved itself: a request was answered.
    public mutating func succeeded() {
        failures = 0
        earliest = MonotonicTime(nanoseconds: .min)
    }

    /// A connection ended before it had proved itself.
    ///
    /// - Parameters:
    ///   - begunAt: when it began.
    ///   - random: draws a wait from the upper third of the span; in its lower part `connectsPerMinuteMax` would be used
    ///     up before the minute is over. The least wait grows by up to a half.
    public mutating func failed(_ now: MonotonicTime, begunAt: MonotonicTime, random: UInt64) {
        let least = configuration.delaySecondsMin * 1000
        let doubled = configuration.delaySecondsMin << Int64(min(failures, 16))
        let span = min(max(doubled, configuration.delaySecondsMin), configuration.delaySecondsMax) * 1000
        failures += 1
        let wait = max(span * 2 / 3 + Int64(random % UInt64(span / 3 + 1)), least)
        let rest = least + Int64(random % UInt64(least / 2 + 1))
        earliest = max(earliest, begunAt + .milliseconds(wait), now + .milliseconds(rest))
    }
}
