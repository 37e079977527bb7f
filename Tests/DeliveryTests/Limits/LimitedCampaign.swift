import BrokerTopology
import EventLoop

@testable import Delivery

/// A model of an app with limits, of the lanes that consume its requests, and of the wait queues, on virtual time.
final class LimitedCampaign {
    struct Options {
        /// The limits of each lane.
        var limits: PushLimits
        var lanes = 1
        var waitingMax = 100
        /// The answer time of APNs.
        var answer = Duration.milliseconds(50)
        var schedule = RetrySchedule()
        /// The time to live of a request in seconds; nil for unlimited.
        var secondsLeft: Int64?
    }

    private static let transitMilliseconds: Int64 = 3

    let loop = VirtualLoop(seed: 1)
    private let options: Options
    private var lanes: [AppLimit]
    private var random = SeededRandom(seed: 2)
    /// The time of each push, in order.
    private(set) var pushes: [MonotonicTime] = []
    /// The number of waits at the broker.
    private(set) var trips = 0
    /// The maximum number of waits of one request.
    private(set) var tripsMax = 0
    private(set) var inFlightMax = 0
    private(set) var waitingMax = 0
    private(set) var expired = 0
    private(set) var taken = 0
    private var waiting: [[Message]]
    private var timers: [TimerToken?]

    private struct Message {
        var trips = 0
        var latest: MonotonicTime?
    }

    init(_ options: Options) {
        self.options = options
        lanes = (0..<options.lanes).map { _ in
            AppLimit(
                options.limits, waitingMax: options.waitingMax,
                waitSecondsMax: options.schedule.waits.last?.seconds ?? 1)
        }
        waiting = lanes.map { _ in [] }
        timers = lanes.map { _ in nil }
    }

    var start: MonotonicTime { MonotonicTime(nanoseconds: 1_000_000_000) }
    /// The number of requests that were pushed or expired.
    var ended: Int { pushes.count + expired }
    var seconds: Double { start.duration(to: loop.now.monotonic) / .seconds(1) }

    /// Publishes at a rate, then waits until all requests have ended.
    ///
    /// - Returns: Whether all requests ended within a day of virtual time.
    func run(perSecond rate: Int, seconds: Int) -> Bool {
        let count = rate * seconds
        loop.enter { publish(count, interval: .nanoseconds(1_000_000_000 / Int64(rate))) }
        return loop.run(limit: .seconds(24 * 3600), until: { ended == count }) == .done
    }

    private func publish(_ left: Int, interval: Duration) {
        guard left > 0 else { return }
        deliver(Message(latest: options.secondsLeft.map { loop.now.monotonic + .seconds($0) }))
        loop.schedule(after: interval) { [unowned self] in publish(left - 1, interval: interval) }
    }

    /// Delivers a request to a random lane, unless the request has expired.
    private func deliver(_ message: Message) {
        taken += 1
        let now = loop.now.monotonic
        if let latest = message.latest, latest <= now {
            expired += 1
            return
        }
        let lane = random.below(lanes.count)
        let arrival = AppLimit.Arrival(hasWaited: message.trips > 0, secondsLeft: secondsLeft(message))
        switch lanes[lane].request(arrival, now) {
        case .now: push(lane)
        case .inLane:
            waiting[lane].append(message)
            waitingMax = max(waitingMax, waiting[lane].count)
            schedulePermits(lane)
        case .atBroker(let milliseconds): wait(message, milliseconds)
        }
    }

    private func secondsLeft(_ message: Message) -> Int64? {
        message.latest.map { loop.now.monotonic.duration(to: $0).components.seconds }
    }

    private func wait(_ message: Message, _ milliseconds: Int64) {
        let time = options.schedule.permitWait(afterMilliseconds: milliseconds, latestSeconds: secondsLeft(message))
        guard let time else {
            expired += 1
            return
        }
        trips += 1
        var message = message
        message.trips += 1
        tripsMax = max(tripsMax, message.trips)
        let inQueue = time.exact?.milliseconds ?? time.delay.milliseconds(sibling: random.below(WaitDelay.siblings))
        loop.schedule(after: .milliseconds(inQueue + Self.transitMilliseconds)) { [unowned self] in deliver(message) }
    }

    private func push(_ lane: Int) {
        let begun = loop.now.monotonic
        pushes.append(begun)
        inFlightMax = max(inFlightMax, lanes[lane].inFlight)
        loop.schedule(after: options.answer) { [unowned self] in
            lanes[lane].ended(begunAt: begun, loop.now.monotonic)
            grantPermits(lane)
        }
    }

    private func grantPermits(_ lane: Int) {
        while let permit = lanes[lane].nextPermit(loop.now.monotonic) {
            let message = waiting[lane].removeFirst()
            switch permit {
            case .now: push(lane)
            case .atBroker(let milliseconds): wait(message, milliseconds)
            case .inLane: preconditionFailure("a waiting request cannot wait again")
            }
        }
        schedulePermits(lane)
    }

    private func schedulePermits(_ lane: Int) {
        if let timer = timers[lane].take() { loop.cancel(timer) }
        guard let time = lanes[lane].nextPermitTime else { return }
        timers[lane] = loop.schedule(at: time) { [unowned self] in
            timers[lane] = nil
            grantPermits(lane)
        }
    }
}
