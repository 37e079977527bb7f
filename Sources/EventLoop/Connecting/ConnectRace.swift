/// Decides which address of a host is connected to, and when: "Happy Eyeballs" (RFC 8305, section 5).
///
/// Addresses are tried in the order given. The next attempt begins `attemptDelay` after the one before, or at once when an
/// attempt fails. The first attempt that connects wins, and the others are cancelled.
///
/// Pure: it takes events and the time, and returns what is to be done. Addresses are named by their index.
struct ConnectRace {
    enum Action: Hashable {
        /// Begin an attempt; `connected` or `failed` follows.
        case connect(Int)
        /// Close the socket of an attempt; nothing more is heard of it.
        case cancel(Int)
        /// Call `timerFired` at this time. Replaces the timer before.
        case arm(MonotonicTime)
        /// The race is over: stop the timer. The last action.
        case finish(Outcome)
    }

    enum Outcome: Hashable {
        case connected(Int)
        /// Every attempt failed.
        case failed
        /// The time limit has passed.
        case timedOut
    }

    /// Addresses that one race tries.
    static let addressesMax = 16
    /// Attempts at the same time. A further address takes the place of the oldest attempt.
    static let attemptsMax = 8
    /// "Connection Attempt Delay", the value that RFC 8305 recommends.
    static let attemptDelayMilliseconds = 250
    /// The least delay that RFC 8305 allows. It is used where a short time limit has to suffice for many addresses.
    static let attemptDelayMillisecondsMin = 10

    private let count: Int
    private let limit: Duration
    private let attemptDelay: Duration
    /// The first address that was not tried yet.
    private var next = 0
    /// Attempts without an outcome, the oldest first.
    private var open: [Int] = []
    private var nextAttemptAt = MonotonicTime.distantFuture
    private var deadline = MonotonicTime.distantFuture
    private var isOver = false

    /// - Parameters:
    ///   - addresses: their number, at least 1. Those beyond `addressesMax` are not tried.
    ///   - limit: for the whole race.
    init(addresses: Int, limit: Duration) {
        precondition(addresses > 0, "a race needs an address")
        count = min(addresses, Self.addressesMax)
        self.limit = limit
        let share = limit / (count + 1)
        attemptDelay = max(
            .milliseconds(Self.attemptDelayMillisecondsMin), min(.milliseconds(Self.attemptDelayMilliseconds), share))
    }

    /// Addresses that were tried so far.
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
