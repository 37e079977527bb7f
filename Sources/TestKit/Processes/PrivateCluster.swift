/// A RabbitMQ cluster of ``PrivateBroker`` nodes, with the consistent hash exchange that shards require.
public struct PrivateCluster: Sendable {
    /// The nodes. The first node runs the port mapper of all nodes.
    public let nodes: [PrivateBroker]

    /// Starts a cluster.
    ///
    /// - Parameters:
    ///   - count: The number of nodes, at least 1.
    ///   - settings: Additional lines of each node's `rabbitmq.conf`.
    ///   - firstGroup: The group ID of the first node's process. Each further node has the next ID. Requires root.
    public init(
        nodes count: Int = 3, hasManagement: Bool = false, settings: [String] = [], firstGroup: Int? = nil
    ) async throws(ProcessError) {
        let plugins = ["rabbitmq_consistent_hash_exchange"]
        // During a partition, the nodes on the minority side pause.
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

    /// A broker URL with the addresses of all nodes, for clients that must survive the loss of a node.
    public var url: String { "amqp://guest:guest@\(nodes.map { "127.0.0.1:\($0.port)" }.joined(separator: ","))/" }

    /// Returns the CPU time of all nodes since their last starts.
    public func processorTime() async -> Duration {
        var time = Duration.zero
        for node in nodes { time += await node.processorTime() }
        return time
    }

    /// Stops all nodes permanently and removes their files.
    public func end() async throws(ProcessError) {
        for node in nodes.reversed() { try await node.end() }
    }
}
