import AMQP
public import APNS
import EventLoop
import Telemetry

/// The state of a lane, for operators.
public struct LaneStatus: Sendable {
    public var number: Int
    public var state: LaneState
    /// Deliveries that have begun and not ended.
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
    /// Apps that have more to push than their limits allow.
    public var limitedApps: [LimitedApp] = []

    /// A queue from which the lane consumes.
    public struct Queue: Sendable, Hashable {
        public var name: String
        public var isConsumed: Bool
        /// Deliveries that are not settled.
        public var unsettled: Int
    }

    /// A route that is held, and the reason.
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
        /// Its requests that wait in the worker for a permit.
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

extension DeliveryPipeline {
    func status(_ configuration: LaneConfiguration) -> LaneStatus {
        LaneStatus(
            number: configuration.number, state: state, inFlight: inFlight,
            queues: zip(configuration.consumers, session.consumers).map { configuration, consumer in
                LaneStatus.Queue(
                    name: configuration.queue, isConsumed: consumer.status == .ready,
                    unsettled: consumer.unsettledCount)
            },
            unconfirmed: session.publisher.unconfirmedCount, unpublished: session.publisher.waitingCount,
            pools: dispatcher.pools.map(\.status), breakers: openBreakers,
            pauses: dispatcher.breakers.pauses.map(dispatcher.name(of:)), limitedApps: permits.limitedApps)
    }

    private var openBreakers: [LaneStatus.OpenBreaker] {
        dispatcher.breakers.openings.map { scope, opening in
            LaneStatus.OpenBreaker(
                route: dispatcher.name(of: scope), code: opening.cause.code, sentence: opening.cause.sentence,
                secondsOpen: Int(opening.since.duration(to: loop.now.monotonic).components.seconds))
        }
    }
}
