package import APNSProtocol

extension WorkerStatus {
    package struct Lane: Sendable, Hashable {
        package var number = 0
        /// Whether the event loop of the lane makes progress.
        package var makesProgress = false
        /// The report of the lane; nil if the lane has ended, is stalled or has not answered in time.
        package var report: LaneReport?

        package init(number: Int = 0, makesProgress: Bool = false, report: LaneReport? = nil) {
            self.number = number
            self.makesProgress = makesProgress
            self.report = report
        }
    }

    package struct LaneReport: Sendable, Hashable {
        package var isReady = false
        /// Whether the lane wants to consume requests. False while the lane drains or is paused, for example.
        package var wantsRequests = false
        package var isDraining = false
        /// Keys, certificates and topics that an operator has paused.
        package var paused: [String] = []
        /// The number of deliveries in flight.
        package var inFlight = 0
        /// The number of messages that are published but not confirmed.
        package var unconfirmed = 0
        /// The number of messages that wait to be published.
        package var unpublished = 0
        /// The reason for repeated failures to publish outcomes; nil without such failures.
        package var publishingFailure: String?
        package var queues: [ConsumedQueue] = []
        package var pools: [Pool] = []

        package init(
            isReady: Bool = false, wantsRequests: Bool = false, isDraining: Bool = false, paused: [String] = [],
            inFlight: Int = 0, unconfirmed: Int = 0, unpublished: Int = 0, publishingFailure: String? = nil,
            queues: [ConsumedQueue] = [], pools: [Pool] = []
        ) {
            self.isReady = isReady
            self.wantsRequests = wantsRequests
            self.isDraining = isDraining
            self.paused = paused
            self.inFlight = inFlight
            self.unconfirmed = unconfirmed
            self.unpublished = unpublished
            self.publishingFailure = publishingFailure
            self.queues = queues
            self.pools = pools
        }
    }

    /// A queue from which a lane consumes.
    package struct ConsumedQueue: Sendable, Hashable {
        package var name = "-"
        package var isConsumed = false
        /// The number of unacknowledged deliveries.
        package var unsettled = 0

        package init(name: String = "-", isConsumed: Bool = false, unsettled: Int = 0) {
            self.name = name
            self.isConsumed = isConsumed
            self.unsettled = unsettled
        }
    }

    /// The connections to one APNs host with one key or certificate.
    package struct Pool: Sendable, Hashable {
        package var host = "-"
        package var environment = APNSEnvironment.production
        package var keyID: String?
        package var teamID: String?
        package var certificate: String?
        /// The number of connections that have not ended.
        package var connections = 0
        package var isConnected = false
        /// The number of pushes that wait for their answer.
        package var streams = 0
        /// The number of pushes that wait for a stream or for a provider token.
        package var waiting = 0
        /// Age of the newest provider token in seconds; nil without a token.
        package var tokenAgeSeconds: Int?

        package init(
            host: String = "-", environment: APNSEnvironment = .production, keyID: String? = nil,
            teamID: String? = nil, certificate: String? = nil, connections: Int = 0, isConnected: Bool = false,
            streams: Int = 0, waiting: Int = 0, tokenAgeSeconds: Int? = nil
        ) {
            self.host = host
            self.environment = environment
            self.keyID = keyID
            self.teamID = teamID
            self.certificate = certificate
            self.connections = connections
            self.isConnected = isConnected
            self.streams = streams
            self.waiting = waiting
            self.tokenAgeSeconds = tokenAgeSeconds
        }
    }
}
