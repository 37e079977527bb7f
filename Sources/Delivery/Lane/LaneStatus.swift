import AMQP
public import APNS
import EventLoop
import Telemetry

/// The state of a lane, for operators.
public struct LaneStatus: Sendable {
    public var number: Int
    public var state: LaneState
    /// The number of deliveries in flight.
    public var inFlight: Int
    public var queues: [Queue]
    /// The number of messages that are published but not confirmed.
    public var unconfirmed: Int
    /// The number of messages that wait to be published.
    public var unpublished: Int
    public var pools: [PoolStatus]
    public var breakers: [OpenBreaker]
    /// The keys, certificates and topics that an operator paused, named like breakers.
    public var pauses: [String]
    public var limitedApps: [LimitedApp] = []

    /// A queue from which the lane consumes.
    public struct Queue: Sendable, Hashable {
        public var name: String
        public var isConsumed: Bool
        /// The number of deliveries that are neither acknowledged, rejected nor requeued.
        public var unsettled: Int
    }

    /// An open breaker of a route, or of the store of device registrations.
    public struct OpenBreaker: Sendable, Hashable {
        /// The endpoint. For a breaker of a credential, the credential follows. For a breaker of a topic, the
        /// credential and the topic follow. For the breaker of the store, the route is `DeviceFinder.route`.
        public var route: String
        /// The reason code, as in dead letters.
        public var code: String
        /// The failure, with a remedy if one is known.
        public var sentence: String
        public var secondsOpen: Int
        /// The bundle IDs of the affected apps, at most ``appsMax``. Empty for the breaker of the store.
        public var apps: [String]

        /// Maximum number of apps that a status names for a breaker.
        package static let appsMax = 10
    }

    /// An app at its limits.
    public struct LimitedApp: Sendable, Hashable {
        public var bundleID: String
        /// The number of pushes in flight.
        public var inFlight: Int
        /// The number of requests that wait in the lane for a permit.
        public var waiting: Int
        public var secondsLimited: Int
        /// The seconds until the last request that waits at the broker is due.
        public var secondsBehind: Int

        public init(bundleID: String, inFlight: Int, waiting: Int, secondsLimited: Int, secondsBehind: Int) {
            self.bundleID = bundleID
            (self.inFlight, self.waiting) = (inFlight, waiting)
            (self.secondsLimited, self.secondsBehind) = (secondsLimited, secondsBehind)
        }
    }
}
