public import AMQP
public import APNS
import EventLoop

/// All that a lane needs to know. Values only: each lane makes its own objects from them.
public struct LaneConfiguration: Sendable {
    public var names: TopologyNames
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
    public var messageDepthMax = 128
    /// Host, process and version, for operators.
    public var worker: String
    package var defects = LaneDefects()

    /// - Parameter inFlightMax: messages on their way at the same time, which is the consumer's prefetch: 1 to 65,535.
    public init(
        names: TopologyNames = TopologyNames(), broker: ConnectionConfiguration, inFlightMax: Int, apps: AppDirectory,
        pools: [PoolConfiguration], worker: String
    ) {
        self.names = names
        self.broker = broker
        self.apps = apps
        self.pools = pools
        self.worker = worker
        consumer = ConsumerConfiguration(queue: names.requestsQueue, prefetch: inFlightMax)
        publisher.waitingMax = max(publisher.waitingMax, inFlightMax * 2)
    }
}
