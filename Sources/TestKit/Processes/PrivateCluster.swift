/// Nodes of RabbitMQ as one cluster, each a ``PrivateBroker``, with the exchanges that shards need.
public struct PrivateCluster: Sendable {
    /// The first has the port mapper of all.
    public let nodes: [PrivateBroker]

    /// - Parameters:
    ///   - nodes: at least 1.
    ///   - settings: more lines of each node's `rabbitmq.conf`.
    ///   - firstGroup: the id of the group of users that the first node runs as, the second by the next, and so on; takes
    ///     root.
    public init(
        nodes count: Int = 3, hasManagement: Bool = false, settings: [String] = [], firstGroup: Int? = nil
    ) async throws(ProcessError) {
        let plugins = ["rabbitmq_consistent_hash_exchange"]
        // What is on the smaller side of a partition takes and gives nothing.
        let settings = ["cluster_partition_handling = pause_minority"] + settings
        let first = try await PrivateBroker(
            hasManagement: hasManagement, plugins: plugins, settings: settings, group: firstGroup)
        var nodes = [first]
        while nodes.count < count {
            let group = firstGroup.map { $0 + nodes.count }
            nodes.append(try await PrivateBroker(plugins: plugins, settings: settings, joining: first, group: group))
        }
        self.nodes = nodes
    }

    /// That of all nodes, for who may lose one.
    public var url: String { "amqp://guest:guest@\(nodes.map { "127.0.0.1:\($0.port)" }.joined(separator: ","))/" }

    /// The processor time that all nodes have used since their last starts.
    public func processorTime() async -> Duration {
        var time = Duration.zero
        for node in nodes { time += await node.processorTime() }
        return time
    }

    /// Ends it for good and removes its files.
    public func end() async throws(ProcessError) {
        for node in nodes.reversed() { try await node.end() }
    }
}
