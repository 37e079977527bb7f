public import AMQP
public import APNS
public import BrokerTopology
import EventLoop

/// All that a lane needs to know. Values only: each lane makes its own objects from them.
public struct LaneConfiguration: Sendable {
    /// The quarantine hands out one message at a time, so that a message which kills workers takes no neighbour along.
    public static let quarantinePrefetch = 1
    /// Expired requests are not pushed: their results alone are waited for.
    static let expiredPrefetch = 32
    /// Consumers of a lane that take from none of its request queues: of the quarantine, and of expired messages.
    package static let consumersBesidesRequests = 2
    static let messageDepthMaxDefault = 128

    public var names: TopologyNames
    /// The queues that requests are taken from, each before its shards; pushes of the first, and of its shards, go first.
    /// At least one.
    public var requestQueues: [RequestQueue]
    /// Its connections add lane and role to the name.
    public var broker: ConnectionConfiguration
    public var consumer: ConsumerConfiguration
    public var publisher = PublisherConfiguration()
    public var apps: AppDirectory
    /// For the same apps.
    public var payloadSchemas = PayloadSchemas()
    /// Connection pools, as the apps number them.
    public var pools: [PoolConfiguration]
    public var schedule = RetrySchedule()
    /// Whether a push whose answer never came is sent again, with the same id.
    public var resendsUnknown = true
    /// Arrays and objects inside each other in a message.
    public var messageDepthMax = messageDepthMaxDefault
    /// Host, process and version, for operators.
    public var worker: String
    /// The last part of `worker`.
    public var version = "-"
    /// Which of the process' lanes it is, counted from 0: for log lines.
    public var number = 0
    /// Lanes of the process, among which limits of a whole worker are shared out.
    public var laneCount = 1
    /// Completes the commands in a remedy, so that they work as they stand.
    public var completeRemedy: @Sendable (String) -> String = { $0 }

    /// What a consumer of a lane takes.
    enum QueueRole { case requests, quarantine, expired }

    /// - Parameter consumer: counted from 0, as in ``consumers``.
    func role(ofConsumer consumer: Int) -> QueueRole {
        guard consumer >= requestQueues.count else { return .requests }
        return consumer == requestQueues.count ? .quarantine : .expired
    }

    /// Of each request queue, then of the quarantine, then of the queue of expired messages. Request queues share the bytes
    /// that may be in flight; each of the others may have as many as one of them.
    var consumers: [ConsumerConfiguration] {
        let quarantine = RequestQueue(name: names.quarantineQueue, prefetch: Self.quarantinePrefetch)
        let expired = RequestQueue(name: names.expiredQueue, prefetch: Self.expiredPrefetch)
        return (requestQueues + [quarantine, expired]).map { queue in
            var configuration = consumer
            configuration.queue = queue.name
            configuration.prefetch = queue.prefetch
            configuration.bodyBytesInFlightMax = max(
                consumer.messageBytesMax, consumer.bodyBytesInFlightMax / requestQueues.count)
            return configuration
        }
    }

    /// Of each consumer's pushes: shards have that of their queue, the quarantine the last. What expired is not pushed.
    var priorities: [Int] {
        var next = 0
        let ofQueues = requestQueues.map { queue in
            if queue.shardOf == nil { next += 1 }
            return next - 1
        }
        return ofQueues + [next]
    }

    public init(
        names: TopologyNames = TopologyNames(), broker: ConnectionConfiguration, requestQueues: [RequestQueue],
        apps: AppDirectory, pools: [PoolConfiguration], worker: String
    ) {
        precondition(!requestQueues.isEmpty, "a lane consumes from at least one queue")
        self.names = names
        self.requestQueues = requestQueues
        self.broker = broker
        self.apps = apps
        self.pools = pools
        self.worker = worker
        consumer = ConsumerConfiguration(queue: requestQueues[0].name, prefetch: requestQueues[0].prefetch)
        publisher.waitingMax = max(publisher.waitingMax, requestQueues.reduce(0) { $0 + $1.prefetch } * 2)
    }

    /// - Parameter inFlightMax: prefetch of each of the queues in `names`: 1 to 65,535.
    public init(
        names: TopologyNames = TopologyNames(), broker: ConnectionConfiguration, inFlightMax: Int, apps: AppDirectory,
        pools: [PoolConfiguration], worker: String
    ) {
        self.init(
            names: names, broker: broker,
            requestQueues: names.requestQueues.flatMap { queue in
                RequestQueue(name: queue, prefetch: inFlightMax).shared(among: names.shards(of: queue))
            }, apps: apps, pools: pools, worker: worker)
    }
}

extension LaneConfiguration {
    func broker(for purpose: BrokerSession.Purpose) -> ConnectionConfiguration {
        var configuration = broker
        configuration.connectionName += " lane \(number) \(purpose.rawValue) \(version)"
        return configuration
    }

    /// Of apps, this lane's share.
    var limits: AppLimits {
        AppLimits(
            (0..<apps.count).map { apps[$0].limits.share(ofLane: number, among: laneCount) },
            prefetch: requestQueues.map(\.prefetch).min() ?? 1,
            waitSecondsMax: schedule.waits.last?.seconds ?? WaitDelay.secondsMax)
    }

    /// The number of each pool's endpoint, counted from 0.
    var endpointOfPool: [Int] {
        var endpoints: [String] = []
        return pools.map { pool in
            let name = "\(pool.environment) \(pool.authority)"
            if let known = endpoints.firstIndex(of: name) { return known }
            endpoints.append(name)
            return endpoints.count - 1
        }
    }

    /// Whether there is such a key, certificate or topic.
    public func knows(_ scope: PauseScope) -> Bool {
        switch scope {
        case .everything: true
        case .key, .certificate: pools.contains { scope.means($0.credential.name) }
        case .topic(let topic): !apps.routes(of: topic).isEmpty
        }
    }
}
