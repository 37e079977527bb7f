import APNSProtocol

extension WorkerStatus {
    struct Lane: Sendable, Hashable {
        var number = 0
        /// Whether the event loop of the lane makes progress.
        var isTurning = false
        /// nil: the lane has not reported in time.
        var report: LaneReport?
    }

    struct LaneReport: Sendable, Hashable {
        var isReady = false
        /// Whether the lane asks the broker for requests.
        var wantsMessages = false
        var isDraining = false
        /// Keys, certificates and topics that an operator has paused.
        var paused: [String] = []
        /// Deliveries that are not settled.
        var inFlight = 0
        /// Messages that were published and are not confirmed.
        var unconfirmed = 0
        /// Messages that wait to be published.
        var unpublished = 0
        /// Why outcomes cannot be published. nil: they can.
        var publishingFailure: String?
        var queues: [ConsumedQueue] = []
        var pools: [Pool] = []
    }

    /// A queue from which a lane consumes.
    struct ConsumedQueue: Sendable, Hashable {
        var name = "-"
        var isConsumed = false
        /// Deliveries that are not settled.
        var unsettled = 0
    }

    /// The connections to one APNs host with one key or certificate.
    struct Pool: Sendable, Hashable {
        var host = "-"
        var environment = APNSEnvironment.production
        var keyID: String?
        var teamID: String?
        var certificate: String?
        /// Connections that have not ended.
        var connections = 0
        var isConnected = false
        /// Pushes that wait for their response.
        var streams = 0
        /// Pushes that wait for a stream.
        var waiting = 0
        /// Age of the newest provider token. nil: there is none.
        var tokenAgeSeconds: Int?
    }
}
