/// The rules that decide when an outage is logged. An outage is logged at its beginning, at most once a minute while it
/// lasts, and at its end.
public struct Outage: Sendable {
    public static let lineSecondsMin = 60
    /// Maximum number of outages per minute that are logged when they begin. Further outages are logged only if they
    /// last.
    public static let linesPerMinuteMax = 5

    private var beganAt: MonotonicTime?
    /// The time of the last log line; nil if this outage was not logged. The end of an unlogged outage is not logged
    /// either.
    private var loggedAt: MonotonicTime?
    /// The times at which the outages of the last minute were first logged.
    private var recent: [MonotonicTime] = []

    public init() {}

    /// Records that the outage has begun or lasts. Returns the duration of the outage if a log line is due, otherwise
    /// nil. The duration is zero when the outage begins.
    public mutating func lasts(_ now: MonotonicTime) -> Duration? {
        let beganAt = beganAt ?? now
        self.beganAt = beganAt
        if let loggedAt {
            guard Self.isOld(loggedAt, now) else { return nil }
        } else {
            recent.removeAll { Self.isOld($0, now) }
            guard recent.count < Self.linesPerMinuteMax else { return nil }
            recent.append(now)
        }
        loggedAt = now
        return beganAt.duration(to: now)
    }

    private static func isOld(_ time: MonotonicTime, _ now: MonotonicTime) -> Bool {
        time.duration(to: now) >= .seconds(lineSecondsMin)
    }

    /// Records the end of the outage. Returns the duration of the outage if the end is to be logged, otherwise nil.
    public mutating func ends(_ now: MonotonicTime) -> Duration? {
        defer { forget() }
        return loggedAt == nil ? nil : beganAt?.duration(to: now)
    }

    /// Ends the outage without a log line.
    public mutating func forget() {
        beganAt = nil
        loggedAt = nil
    }
}
