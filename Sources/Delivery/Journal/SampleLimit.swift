import EventLoop

/// The limit of a lane's samples of dead letters. Pure. Its methods have the time as a parameter.
struct SampleLimit: Sendable {
    /// The maximum number of samples in a minute for each kind of dead letter, divided among the lanes of a worker.
    /// Each lane has at least one.
    static let perMinuteMax = 5
    /// The maximum number of kinds with samples of a lane in a minute. Producers influence the paths, and thus the
    /// number of kinds.
    static let kindsMax = 100
    private static let windowSeconds: Int64 = 60

    /// Dead letters that have the same cause.
    struct Kind: Hashable, Sendable {
        var deadClass: String
        var code: String
        var app: String?
        var path: String?
    }

    private let perMinute: Int
    private var windowBegan: MonotonicTime?
    private var counts: [Kind: Int] = [:]

    init(lane: Int, laneCount: Int) {
        let (share, rest) = Self.perMinuteMax.quotientAndRemainder(dividingBy: max(1, laneCount))
        perMinute = max(1, share + (lane < rest ? 1 : 0))
    }

    /// Returns whether a dead letter of this kind becomes a sample, and if so counts it.
    mutating func admit(_ kind: Kind, _ now: MonotonicTime) -> Bool {
        if windowBegan.map({ $0 + .seconds(Self.windowSeconds) <= now }) ?? true {
            windowBegan = now
            counts = [:]
        }
        let count = counts[kind] ?? 0
        guard count < perMinute, count > 0 || counts.count < Self.kindsMax else { return false }
        counts[kind] = count + 1
        return true
    }
}
