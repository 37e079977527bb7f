public import AMQP
public import APNS
public import BrokerTopology
import EventLoop

public struct LaneConfiguration: Sendable {
    /// The prefetch of the quarantine. The quarantine delivers one request at a time, so that a request that crashes
    /// workers affects no other request in the quarantine.
    public static let quarantinePrefetch = 1
    /// The prefetch of the queue of expired requests. It is small, since expired requests are not pushed and only wait
    /// for the confirm of their results.
    static let expiredPrefetch = 32
    /// The number of consumers of a lane for the quarantine and for expired requests.
    package static let consumersBesidesRequests = 2
    static let messageDepthMaxDefault = 128

    public var names: TopologyNames
    /// The request queues by descending priority of their pushes. Each queue precedes its shards, which share its
    /// priority. At least one queue.
    public var requestQueues: [RequestQueue]
    /// The configuration of the broker connections. Each connection of the lane appends `lane`, the lane's index,
    /// the connection's purpose and the worker's version to `connectionName`.
    public var broker: ConnectionConfiguration
    public var consumer: ConsumerConfiguration
    public var publisher = PublisherConfiguration()
    public var apps: AppDirectory
    public var payloadSchemas = PayloadSchemas()
    /// Whether the worker stores device registrations. The lane then accepts requests to users, and publishes commands
    /// about device tokens that APNs refuses.
    public var hasRegistrations = false
    /// The settings of the journal; nil if the lane writes none.
    public var journal: JournalSettings?
    /// The configurations of the connection pools, indexed by the pool numbers of the apps.
    public var pools: [PoolConfiguration]
    public var schedule = RetrySchedule()
    /// Whether a push with an unknown outcome is repeated, with the same id.
    public var resendsUnknown = true
    /// The maximum nesting of arrays and objects in a request.
    public var messageDepthMax = messageDepthMaxDefault
    /// The host, process and version of the worker, for operators.
    public var worker: String
    /// The version of the worker, which is the last part of `worker`.
    public var version = "-"
    /// The index of the lane in the process, for connection names, log lines, and shares of limits.
    public var number = 0
    /// The number of lanes of the process, which share the limits of the worker.
    public var laneCount = 1
    /// The function that completes the commands in a remedy with their options, so that an operator can paste the
    /// commands.
    public var completeRemedy: @Sendable (String) -> String = { $0 }

    /// The kind of queue that a consumer consumes from.
    enum QueueRole { case requests, quarantine, expired }

    /// Returns the kind of queue that a consumer consumes from.
    ///
    /// - Parameter consumer: An index into ``consumers``.
    func role(ofConsumer consumer: Int) -> QueueRole {
        guard consumer >= requestQueues.count else { return .requests }
        return consumer == requestQueues.count ? .quarantine : .expired
    }

    /// Returns the request queue with this name; nil if the lane consumes from no such queue.
    func requestQueue(named name: String) -> RequestQueue? { requestQueues.first { $0.name == name } }

    /// The configurations of the consumers, in this order: the request queues, the quarantine, the expired requests.
    /// The request queues share the bytes in flight equally, but each may have at least one body of the maximum size.
    /// Each other queue may have as many bytes as one request queue.
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

    /// The priority of each consumer's pushes, except for expired requests, which are not pushed. 0 is the highest
    /// priority. Shards have the priority of their queue. The quarantine has the lowest.
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
        precondition(!requestQueues.isEmpty, "a lane needs at least one request queue")
        self.names = names
        self.requestQueues = requestQueues
        self.broker = broker
        self.apps = apps
        self.pools = pools
        self.worker = worker
        consumer = ConsumerConfiguration(queue: requestQueues[0].name, prefetch: requestQueues[0].prefetch)
        publisher.waitingMax = max(publisher.waitingMax, requestQueues.reduce(0) { $0 + $1.prefetch } * 2)
    }

    /// Creates the configuration of a lane that consumes from the request queues in `names` and from their shards.
    ///
    /// - Parameter inFlightMax: The prefetch of each request queue, which its shards share: 1 to 65,535.
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

    /// This lane's share of the limits of all apps.
    var limits: AppLimits {
        AppLimits(
            (0..<apps.count).map { apps[$0].limits.share(ofLane: number, among: laneCount) },
            prefetch: requestQueues.map(\.prefetch).min() ?? 1,
            waitSecondsMax: schedule.waits.last?.seconds ?? WaitDelay.secondsMax)
    }

    /// The index of each pool's endpoint. Pools with the same environment and authority have the same endpoint.
    var endpointOfPool: [Int] {
        var endpoints: [String] = []
        return pools.map { pool in
            let name = "\(pool.environment) \(pool.authority)"
            if let known = endpoints.firstIndex(of: name) { return known }
            endpoints.append(name)
            return endpoints.count - 1
        }
    }

    /// Returns whether the lane has the key, certificate or topic of the scope; true for `everything`.
    public func contains(_ scope: PauseScope) -> Bool {
        switch scope {
        case .everything: true
        case .key, .certificate: pools.contains { scope.matches($0.credential.name) }
        case .topic(let topic): !apps.routes(of: topic).isEmpty
        }
    }
}
