import EventLoop

/// Says when pushes of one app that has limits may leave one lane. A message whose turn is near waits for it here, if few
/// do; every other waits at the broker until its turn is due, so that it makes one trip however long that is.
///
/// Pure: it is told the time and what happens. The rate is GCRA, the generic cell rate algorithm.
struct AppLimit {
    /// After a pause, what the rate allows in so much time may leave at once.
    static let burstMilliseconds: Int64 = 100
    /// A turn is near that is due within this.
    static let nearMilliseconds: Int64 = 1000
    /// Who waits here, and has had no turn by then, goes to the broker after all: pushes take longer than they did.
    static let hereSecondsMax: Int64 = 5
    /// What ends sooner was not pushed at all, and says nothing of how long pushes take.
    static let pushMillisecondsMin: Int64 = 1
    /// When pushes in flight will end is a guess; none is waited for longer on the strength of it.
    static let guessedSecondsMax: Int64 = 600
    /// An app is no longer limited when none of its messages had to go to the broker for so long.
    static let quietSecondsMin: Int64 = 60

    enum Permit: Hashable {
        case now
        /// It waits here, behind those that do already: `nextPermit` calls it.
        case here
        case later(milliseconds: Int64)
    }

    struct Arrival {
        /// Its turn was planned before: it goes ahead of those that come for the first time.
        var isBack = false
        /// Until it is too late; nil: it never is.
        var secondsLeft: Int64?
        /// Whether one more message may wait here, whatever its app.
        var hasRoom = true
    }

    private let inFlightMax: Int
    /// Between two pushes; 0 where no rate is set.
    private let interval: Int64
    private let waitingMax: Int
    /// How long one waits here at most: with few pushes a second the next may be due later than in `hereSecondsMax`.
    private let hereMax: Int64
    /// As far ahead turns are planned.
    private let plannedMax: Int64

    private(set) var inFlight = 0
    /// When the next push is due by the rate, which it may be ahead of by a burst.
    private var due = Self.never
    /// The last turn that a message at the broker waits for.
    private var planned = Self.never
    /// Of those that wait here, since when.
    private var here = FIFO<Int64>()
    /// What a push takes from its turn to its outcome, of late.
    private var duration: Int64 = 50_000_000
    private(set) var limitedSince: MonotonicTime?
    private var lastSentAway = Self.never

    // Times and durations are in nanoseconds; half of the range, so that sums stay in it.
    private static let never = Int64.min / 2
    private static let burst = burstMilliseconds * 1_000_000
    private static let near = nearMilliseconds * 1_000_000

    /// - Parameters:
    ///   - limits: of this lane.
    ///   - waitingMax: messages that may wait here.
    ///   - waitSecondsMax: the longest wait that the broker has a queue for.
    init(_ limits: PushLimits, waitingMax: Int, waitSecondsMax: Int) {
        inFlightMax = limits.inFlightMax ?? .max
        interval = limits.perSecondMax.map { Int64(1e9 / max($0, 1e-6)) } ?? 0
        self.waitingMax = waitingMax
        hereMax = max(Self.hereSecondsMax * 1_000_000_000, 2 * interval)
        let longest = Int64(waitSecondsMax)
        plannedMax = (limits.inFlightMax == nil ? longest : min(longest, Self.guessedSecondsMax)) * 1_000_000_000
    }

    var waitingCount: Int { here.count }

    /// How far ahead turns are planned; zero when nothing waits at the broker.
    func backlog(_ now: MonotonicTime) -> Duration { .nanoseconds(max(0, planned - now.nanoseconds)) }

    /// A message has come. Where its turn is `now` it counts as in flight until `ended`.
    mutating func request(_ arrival: Arrival, _ now: MonotonicTime) -> Permit {
        let now = now.nanoseconds
        if here.isEmpty, isOpen(now) {
            begin(now)
            return .now
        }
        let next = nextTurn(now)
        let isAhead = arrival.isBack || planned - now <= Self.near
        // Who is back must not lose its turn to a new one that came just before it.
        let near = arrival.isBack ? max(Self.near, interval) : Self.near
        if isAhead, next - now <= near, here.count < waitingMax, arrival.hasRoom {
            here.append(now)
            return .here
        }
        return sendAway(next, secondsLeft: arrival.secondsLeft, now)
    }

    /// What becomes of the first of those that wait here; nil: it waits on. To be asked again after each answer, at
    /// `nextPermitTime`, and when a push has ended.
    mutating func nextPermit(_ now: MonotonicTime) -> Permit? {
        let now = now.nanoseconds
        guard let since = here.first else { return nil }
        if isOpen(now) {
            here.removeFirst()
            begin(now)
            return .now
        }
        guard now - since >= hereMax else { return nil }
        here.removeFirst()
        return sendAway(nextTurn(now), secondsLeft: nil, now)
    }

    /// When the first of those that wait here is to be called, if no push ends before.
    var nextPermitTime: MonotonicTime? {
        guard let since = here.first else { return nil }
        let latest = since + hereMax
        return MonotonicTime(nanoseconds: inFlight < inFlightMax ? min(due - Self.burst, latest) : latest)
    }

    /// Nobody waits here any more.
    mutating func forgetWaiting() { here = FIFO() }

    /// A push has had its outcome, or was not sent after all.
    mutating func ended(begunAt: MonotonicTime, _ now: MonotonicTime) {
        inFlight -= 1
        let took = begunAt.duration(to: now).nanosecondsSaturated
        guard took >= Self.pushMillisecondsMin * 1_000_000 else { return }
        // One that hung says little of the others.
        duration += (min(took, 2 * duration) - duration) / 8
    }

    /// Whether it is no longer limited, and for how long it was.
    mutating func endLimited(_ now: MonotonicTime) -> Duration? {
        let quiet = now.nanoseconds - Self.quietSecondsMin * 1_000_000_000
        guard let since = limitedSince, here.isEmpty, max(lastSentAway, planned) <= quiet else { return nil }
        limitedSince = nil
        return since.duration(to: now)
    }

    private func isOpen(_ now: Int64) -> Bool { inFlight < inFlightMax && due - Self.burst <= now }

    private mutating func begin(_ now: Int64) {
        inFlight += 1
        if interval > 0 { due = max(due, now) + interval }
    }

    /// Behind those that wait here.
    private func nextTurn(_ now: Int64) -> Int64 {
        let byRate = max(now, due - Self.burst) + Int64(here.count) * interval
        let endsNeeded = inFlightMax == .max ? 0 : max(0, inFlight + here.count + 1 - inFlightMax)
        return max(byRate, now + Int64(endsNeeded) * pace)
    }

    /// Between two pushes, where as many as may be are in flight.
    private var pace: Int64 { inFlightMax == .max ? 0 : max(1, duration / Int64(inFlightMax)) }

    /// - Parameter next: the soonest turn that is not taken here.
    private mutating func sendAway(_ next: Int64, secondsLeft: Int64?, _ now: Int64) -> Permit {
        if limitedSince == nil { limitedSince = MonotonicTime(nanoseconds: now) }
        lastSentAway = now
        let turn = max(next, planned + max(interval, pace))
        let wait = turn - now
        // What comes back before its turn takes none: it is planned then.
        if wait <= plannedMax, secondsLeft.map({ wait / 1_000_000_000 < $0 }) ?? true { planned = turn }
        return .later(milliseconds: max(1, (wait + 999_999) / 1_000_000))
    }
}
