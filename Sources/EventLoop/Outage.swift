/// How long something has been wrong, and when that is worth a line in the log: as it begins, at most once a minute
/// while it lasts or comes again, and once when it is over. Pure.
public struct Outage: Sendable {
    public static let lineSecondsMin = 60

    private var beganAt: MonotonicTime?
    private var saidAt: MonotonicTime?
    /// Whether this one was said: an end without a beginning would be a riddle.
    private var isSaid = false

    public init() {}

    /// It has begun, or lasts. Returns for how long, zero at first, when that is to be said.
    public mutating func lasts(_ now: MonotonicTime) -> Duration? {
        let beganAt = beganAt ?? now
        self.beganAt = beganAt
        if let saidAt, saidAt.duration(to: now) < .seconds(Self.lineSecondsMin) { return nil }
        saidAt = now
        isSaid = true
        return beganAt.duration(to: now)
    }

    /// It is over. Returns how long it was, when that is to be said.
    public mutating func ends(_ now: MonotonicTime) -> Duration? {
        defer { forget() }
        return isSaid ? beganAt?.duration(to: now) : nil
    }

    /// Nobody waits for its end any more.
    public mutating func forget() {
        beganAt = nil
        isSaid = false
    }
}
