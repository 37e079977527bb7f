/// A connect race over the addresses of a host, known as "Happy Eyeballs" (RFC 8305, section 5).
///
/// Addresses are attempted in the given order. The next attempt begins `attemptDelay` after the previous attempt, or
/// immediately when an attempt fails. The first attempt that connects wins, and the other attempts are canceled.
///
/// The race is pure. It receives events and the time, and returns actions. Addresses are identified by index.
struct ConnectRace {
    enum Action: Hashable {
        /// The start of an attempt. `connected` or `failed` follows, unless the attempt is canceled.
        case connect(Int)
        /// The close of an attempt's socket. No event follows.
        case cancel(Int)
        /// The time at which to call `timerFired`. This time replaces the previous time.
        case arm(MonotonicTime)
        /// The end of the race and of its timer. This action is the last.
        case finish(Outcome)
    }

    enum Outcome: Hashable {
        case connected(Int)
        /// The failure of every attempt.
        case failed
        /// The end of the time limit.
        case timedOut
    }

    /// Maximum number of addresses of one race.
    static let addressesMax = 16
    /// Maximum number of simultaneous attempts. A further attempt replaces the oldest attempt.
    static let attemptsMax = 8
    /// "Connection Attempt Delay", the value that RFC 8305 recommends.
    static let attemptDelayMilliseconds = 250
    /// The smallest delay that RFC 8305 allows, used if a short time limit has to suffice for many addresses.
    static let attemptDelayMillisecondsMin = 10

    private let count: Int
    private let limit: Duration
    private let attemptDelay: Duration
    /// The first address without an attempt.
    private var next = 0
    /// Attempts without an outcome, oldest first.
    private var open: [Int] = []
    private var nextAttemptAt = MonotonicTime.distantFuture
    private var deadline = MonotonicTime.distantFuture
    private var isOver = false

    /// Creates a race, which `start` begins.
    ///
    /// - Parameters:
    ///   - addresses: the number of addresses, at least 1. Addresses beyond `addressesMax` are ignored.
    ///   - limit: the time limit of the whole race.
    init(addresses: Int, limit: Duration) {
        precondition(addresses > 0, "a race needs at least one address")
        count = min(addresses, Self.addressesMax)
        self.limit = limit
        let share = limit / (count + 1)
        attemptDelay = max(
            .milliseconds(Self.attemptDelayMillisecondsMin), min(.milliseconds(Self.attemptDelayMilliseconds), share))
    }

    /// The number of addresses that were attempted.
    var triedCount: Int { next }

    mutating func start(_ now: MonotonicTime) -> [Action] {
        deadline = now + limit
        return beginNext(now)
    }

    mutating func connected(_ index: Int) -> [Action] {
        guard !isOver, let place = open.firstIndex(of: index) else { return [] }
        open.remove(at: place)
        return finish(.connected(index))
    }

    mutating func failed(_ index: Int, _ now: MonotonicTime) -> [Action] {
        guard !isOver, let place = open.firstIndex(of: index) else { return [] }
        open.remove(at: place)
        if next < count { return beginNext(now) }
        return open.isEmpty ? finish(.failed) : []
    }

    mutating func timerFired(_ now: MonotonicTime) -> [Action] {
        guard !isOver else { return [] }
        if now >= deadline { return finish(.timedOut) }
        return now >= nextAttemptAt ? beginNext(now) : [arm]
    }

    private mutating func beginNext(_ now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if open.count == Self.attemptsMax { actions.append(.cancel(open.removeFirst())) }
        open.append(next)
        actions.append(.connect(next))
        next += 1
        nextAttemptAt = next < count ? now + attemptDelay : .distantFuture
        actions.append(arm)
        return actions
    }

    private var arm: Action { .arm(min(nextAttemptAt, deadline)) }

    private mutating func finish(_ outcome: Outcome) -> [Action] {
        isOver = true
        defer { open = [] }
        return open.map { .cancel($0) } + [.finish(outcome)]
    }
}
