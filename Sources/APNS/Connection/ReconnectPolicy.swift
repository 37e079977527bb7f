public import EventLoop

/// The policy that decides when the next connection may be opened. APNs treats frequent connects and disconnects as a
/// denial-of-service attack (Apple, "Establishing a connection to APNs"). Therefore, delays after failures are random
/// and grow with consecutive failures, up to a limit. The number of connects per minute is limited even if all connects
/// succeed.
///
/// The policy is pure. Callers pass the time and the events.
public struct ReconnectPolicy: Sendable {
    public struct Configuration: Sendable, Hashable {
        /// Delay between the start of the first failed attempt and the start of the next attempt. With each further
        /// failure, the upper bound of the random delay doubles, up to `delaySecondsMax`.
        ///
        /// In addition, 1 to 1.5 times this value must pass after the end of each failed attempt.
        public var delaySecondsMin: Int64 = 1
        public var delaySecondsMax: Int64 = 9
        /// Maximum number of connects per minute. Half of these connects may be immediate, and the others are spread
        /// over the minute. Without the spread, pushes to a peer that closes connections quickly would wait until the
        /// minute is over.
        public var connectsPerMinuteMax = 12

        public init() {}
    }

    public let configuration: Configuration
    private var failures = 0
    /// The earliest time of the next connect after failures.
    private var earliest = MonotonicTime(nanoseconds: .min)
    /// Start times of at most the last `burstMax` connects, oldest first.
    private var begun: [MonotonicTime] = []
    private let burstMax: Int
    /// Time between connects beyond the burst. The time is rounded up, because rounding down would allow one more
    /// connect per minute.
    private let interval: Duration

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let limit = max(1, configuration.connectsPerMinuteMax)
        burstMax = max(1, limit / 2)
        let steps = Int64(limit - burstMax + 1)
        interval = .milliseconds((60_000 + steps - 1) / steps)
    }

    /// Returns the time at which the next connection may be opened. The time is `now` or later.
    public func nextConnect(_ now: MonotonicTime) -> MonotonicTime {
        guard let first = begun.first, let last = begun.last, begun.count == burstMax else {
            return max(now, earliest)
        }
        return max(now, earliest, min(last + interval, first + .seconds(60)))
    }

    public mutating func connectBegan(_ now: MonotonicTime) {
        begun.append(now)
        if begun.count > burstMax { begun.removeFirst() }
    }

    /// Resets the delays after APNs has accepted the credential on a connection.
    public mutating func succeeded() {
        failures = 0
        earliest = MonotonicTime(nanoseconds: .min)
    }

    /// Computes the next delay after the failure of a connection on which APNs has not accepted the credential.
    ///
    /// - Parameters:
    ///   - begunAt: the start of the attempt.
    ///   - random: selects a delay in the upper third of the range, since shorter delays would use up
    ///     `connectsPerMinuteMax` before the minute is over. Also increases the delay after the end by up to half.
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
