import AMQP
public import APNS
import EventLoop
import Telemetry

/// How a lane stands, for operators.
public struct LaneStatus: Sendable {
    public var number: Int
    public var state: LaneState
    /// Deliveries on their way.
    public var inFlight: Int
    public var queues: [Queue]
    /// Messages that were published and are not confirmed.
    public var unconfirmed: Int
    /// Messages that wait to be published.
    public var unpublished: Int
    public var pools: [PoolStatus]
    public var breakers: [OpenBreaker]
    /// Keys and topics that an operator has paused, as breakers are named.
    public var pauses: [String]
    /// Those that have more to push than their limits allow.
    public var limitedApps: [LimitedApp] = []

    /// What the lane takes messages from.
    public struct Queue: Sendable, Hashable {
        public var name: String
        public var isConsumed: Bool
        /// Deliveries that are not settled.
        public var unsettled: Int
    }

    /// What is held up, and why.
    public struct OpenBreaker: Sendable, Hashable {
        /// Host, key and topic, as far as it reaches.
        public var route: String
        /// One word, as in dead letters.
        public var code: String
        /// What was seen and what may mend it.
        public var sentence: String
        public var secondsOpen: Int
    }

    /// An app at its limits.
    public struct LimitedApp: Sendable, Hashable {
        public var bundleID: String
        /// Its pushes without an outcome.
        public var inFlight: Int
        /// Its messages that wait in the worker for a turn that is near.
        public var waiting: Int
        public var secondsLimited: Int
        /// Until the last of those that wait at the broker is to be back.
        public var secondsBehind: Int

        public init(bundleID: String, inFlight: Int, waiting: Int, secondsLimited: Int, secondsBehind: Int) {
            self.bundleID = bundleID
            (self.inFlight, self.waiting) = (inFlight, waiting)
            (self.secondsLimited, self.secondsBehind) = (secondsLimited, secondsBehind)
        }
    }
}

extension Lane {
    public func status() -> LaneStatus {
        LaneStatus(
            number: configuration.number, state: state, inFlight: inFlight,
            queues: zip(configuration.consumers, consumers).map { configuration, consumer in
                LaneStatus.Queue(
                    name: configuration.queue, isConsumed: consumer.state == .ready,
                    unsettled: consumer.unsettledCount)
            },
            unconfirmed: publisher.unconfirmedCount, unpublished: publisher.waitingCount,
            pools: pools.map(\.status), breakers: openBreakers,
            pauses: breakers.pauses.map(name(of:)), limitedApps: limitedApps)
    }

    private var openBreakers: [LaneStatus.OpenBreaker] {
        breakers.openings.map { place, opening in
            LaneStatus.OpenBreaker(
                route: name(of: place), code: opening.cause.code, sentence: opening.cause.sentence,
                secondsOpen: Int(opening.since.duration(to: loop.now.monotonic).components.seconds))
        }
    }
}
