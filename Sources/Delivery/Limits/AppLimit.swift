import EventLoop

/// The limits of one app in one lane, which determine when a request of the app may be pushed.
///
/// A request without a permit waits in the lane if its scheduled slot is near and few requests wait there. Otherwise,
/// the request waits at the broker until its slot. One wait suffices unless the slot is too far away to be planned.
///
/// Pure. Its methods have the time and the events as parameters. The rate follows GCRA, the generic cell rate
/// algorithm.
struct AppLimit {
    /// The duration of a burst. After an idle period, the pushes that the rate allows in this time may be sent
    /// together.
    static let burstMilliseconds: Int64 = 100
    /// The longest time until a slot that counts as near. At a low rate, a later slot counts as near for a returned
    /// request.
    static let nearMilliseconds: Int64 = 1000
    /// The longest wait in the lane, unless the rate is low (`laneWaitMax`). A request that has no permit by then moves
    /// to the broker, since pushes take longer than estimated.
    static let laneWaitSecondsMax: Int64 = 5
    /// The shortest plausible duration of a push that was sent. A push that ends sooner does not count in the average
    /// duration.
    static let pushMillisecondsMin: Int64 = 1
    /// The longest wait that is planned from an estimate of when pushes in flight end.
    static let estimatedSecondsMax: Int64 = 600
    /// The time without waits at the broker after which an app is no longer limited.
    static let quietSecondsMin: Int64 = 60

    enum Permit: Hashable {
        /// A permit to push now.
        case now
        /// A wait in the lane for `nextPermit`, behind earlier requests.
        case inLane
        /// A wait at the broker for this time.
        case atBroker(milliseconds: Int64)
    }

    /// A request that needs a permit.
    struct Arrival {
        /// Whether the request returned from a planned wait. A returned request precedes new requests.
        var hasWaited = false
        /// The seconds until the deadline of the request; nil if it has none.
        var secondsLeft: Int64?
        /// Whether the lane has room for one more waiting request, counted over all apps.
        var hasRoom = true
    }

    private let inFlightMax: Int
    /// The time between two pushes; 0 without a rate limit.
    private let interval: Int64
    private let waitingMax: Int
    /// The longest wait in the lane. At a low rate it exceeds `laneWaitSecondsMax`, since the next slot may be later.
    private let laneWaitMax: Int64
    /// The longest wait for which a slot is planned.
    private let plannedMax: Int64

    private(set) var inFlight = 0
    /// The time at which the next push is due by the rate. The push may be sent earlier, by at most `burst`.
    private var due = Self.never
    /// The last slot for which a request waits at the broker.
    private var planned = Self.never
    /// The start times of the waits in the lane.
    private var waiting = FIFO<Int64>()
    /// The moving average of the time from a permit to the outcome of the push.
    private var duration: Int64 = 50_000_000
    private(set) var limitedSince: MonotonicTime?
    private var lastSentToBroker = Self.never

    // Times and durations are in nanoseconds. `never` is half of the minimum, so that sums do not overflow.
    private static let never = Int64.min / 2
    private static let burst = burstMilliseconds * 1_000_000
    private static let near = nearMilliseconds * 1_000_000

    /// Creates the limits of an app without any pushes or waits.
    ///
    /// - Parameters:
    ///   - limits: The app's limits in this lane.
    ///   - waitingMax: The maximum number of the app's requests that wait in the lane.
    ///   - waitSecondsMax: The longest delay of a wait queue.
    init(_ limits: PushLimits, waitingMax: Int, waitSecondsMax: Int) {
        inFlightMax = limits.inFlightMax ?? .max
        interval = limits.perSecondMax.map { Int64(1e9 / max($0, 1e-6)) } ?? 0
        self.waitingMax = waitingMax
        laneWaitMax = max(Self.laneWaitSecondsMax * 1_000_000_000, 2 * interval)
        let longest = Int64(waitSecondsMax)
        plannedMax = (limits.inFlightMax == nil ? longest : min(longest, Self.estimatedSecondsMax)) * 1_000_000_000
    }

    /// The number of requests that wait in the lane.
    var waitingCount: Int { waiting.count }

    /// Returns the time until the last planned slot; zero if no request waits at the broker.
    func backlog(_ now: MonotonicTime) -> Duration { .nanoseconds(max(0, planned - now.nanoseconds)) }

    /// Requests a permit. After `Permit.now`, the request counts as in flight until `ended`.
    mutating func request(_ arrival: Arrival, _ now: MonotonicTime) -> Permit {
        let now = now.nanoseconds
        if waiting.isEmpty, isOpen(now) {
            begin(now)
            return .now
        }
        let next = nextSlot(now)
        let isAhead = arrival.hasWaited || planned - now <= Self.near
        // A returned request must not lose its slot to a new request that arrived just before.
        let near = arrival.hasWaited ? max(Self.near, interval) : Self.near
        if isAhead, next - now <= near, waiting.count < waitingMax, arrival.hasRoom {
            waiting.append(now)
            return .inLane
        }
        return sendToBroker(next, secondsLeft: arrival.secondsLeft, now)
    }

    /// Removes the first waiting request if it gets a permit or must move to the broker. Returns nil if the request
    /// must wait longer, or if no request waits.
    ///
    /// To be called at `nextPermitTime`, when a push has ended, and again after each permit.
    mutating func nextPermit(_ now: MonotonicTime) -> Permit? {
        let now = now.nanoseconds
        guard let since = waiting.first else { return nil }
        if isOpen(now) {
            waiting.removeFirst()
            begin(now)
            return .now
        }
        guard now - since >= laneWaitMax else { return nil }
        waiting.removeFirst()
        return sendToBroker(nextSlot(now), secondsLeft: nil, now)
    }

    /// The time to call `nextPermit`, if no push ends before then; nil if no request waits in the lane.
    var nextPermitTime: MonotonicTime? {
        guard let since = waiting.first else { return nil }
        let latest = since + laneWaitMax
        return MonotonicTime(nanoseconds: inFlight < inFlightMax ? min(due - Self.burst, latest) : latest)
    }

    /// Removes all requests that wait in the lane.
    mutating func forgetWaiting() { waiting = FIFO() }

    /// Records that a permitted push has an outcome, or was not sent.
    mutating func ended(begunAt: MonotonicTime, _ now: MonotonicTime) {
        inFlight -= 1
        let took = begunAt.duration(to: now).nanosecondsSaturated
        guard took >= Self.pushMillisecondsMin * 1_000_000 else { return }
        // Limit the weight of a single slow push.
        duration += (min(took, 2 * duration) - duration) / 8
    }

    /// Ends the limited state if no request waits in the lane and none has waited at the broker for `quietSecondsMin`.
    /// Returns the time for which the app was limited; nil if the state has not changed.
    mutating func endLimited(_ now: MonotonicTime) -> Duration? {
        let quiet = now.nanoseconds - Self.quietSecondsMin * 1_000_000_000
        guard let since = limitedSince, waiting.isEmpty, max(lastSentToBroker, planned) <= quiet else { return nil }
        limitedSince = nil
        return since.duration(to: now)
    }

    private func isOpen(_ now: Int64) -> Bool { inFlight < inFlightMax && due - Self.burst <= now }

    private mutating func begin(_ now: Int64) {
        inFlight += 1
        if interval > 0 { due = max(due, now) + interval }
    }

    /// Returns the next slot behind the requests that wait in the lane.
    private func nextSlot(_ now: Int64) -> Int64 {
        let byRate = max(now, due - Self.burst) + Int64(waiting.count) * interval
        let endsNeeded = inFlightMax == .max ? 0 : max(0, inFlight + waiting.count + 1 - inFlightMax)
        return max(byRate, now + Int64(endsNeeded) * pace)
    }

    /// The estimated time between two pushes while the maximum is in flight.
    private var pace: Int64 { inFlightMax == .max ? 0 : max(1, duration / Int64(inFlightMax)) }

    /// Plans a wait at the broker, and marks the app as limited.
    ///
    /// - Parameter next: The next slot behind the requests that wait in the lane.
    private mutating func sendToBroker(_ next: Int64, secondsLeft: Int64?, _ now: Int64) -> Permit {
        if limitedSince == nil { limitedSince = MonotonicTime(nanoseconds: now) }
        lastSentToBroker = now
        let slot = max(next, planned + max(interval, pace))
        let wait = slot - now
        // Reserve the slot only if the request can wait that long. A request that returns earlier gets another slot.
        if wait <= plannedMax, secondsLeft.map({ wait / 1_000_000_000 < $0 }) ?? true { planned = slot }
        return .atBroker(milliseconds: max(1, (wait + 999_999) / 1_000_000))
    }
}
