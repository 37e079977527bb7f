/// How long something has been wrong, and when that is worth a line in the log: as it begins, once a minute while it lasts,
/// and once when it is over. Pure.
public struct Outage: Sendable {
    public static let lineSecondsMin = 60
    /// Outages that begin within a minute and are logged. More of them are logged only if they last.
    public static let linesPerMinuteMax = 5

    private var beganAt: MonotonicTime?
    /// nil: this outage was not logged. Its end is not logged then.
    private var loggedAt: MonotonicTime?
    /// When the outages of the last minute were first logged.
    private var recent: [MonotonicTime] = []

    public init() {}

    /// It has begun, or lasts. Returns for how long, zero at first, if that is to be logged.
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

    /// It is over. Returns its length if that is to be logged.
    public mutating func ends(_ now: MonotonicTime) -> Duration? {
        defer { forget() }
        return loggedAt == nil ? nil : beganAt?.duration(to: now)
    }

    /// Its end is not logged.
    public mutating func forget() {
        beganAt = nil
        loggedAt = nil
    }
}
