public import AMQP
public import BrokerTopology

/// A comparison of a topology with a broker, through the management API or over AMQP.
public struct TopologyInspector: Sendable {
    public let topology: Topology
    /// The access to the management API; nil if the configuration has no `amqp.management_url`.
    public let management: ManagementAccess?
    public let advice: TopologyAdvice

    public init(_ topology: Topology, management: ManagementAccess?, virtualHost: String) {
        self.topology = topology
        self.management = management
        advice = TopologyAdvice(virtualHost: virtualHost)
    }

    /// Returns findings from the management API, or from AMQP if the management API fails or is not configured.
    ///
    /// - Parameters:
    ///   - admin: started and closed if AMQP is used.
    ///   - deadlineSeconds: the timeout of the connection.
    ///   - onWait: called on another thread, with a sentence for an operator, if the call waits for statistics.
    /// - Throws: if the broker cannot be reached.
    public func findings(
        by admin: BrokerAdmin, deadlineSeconds: Int, onWait: @escaping @Sendable (String) -> Void
    ) async throws(AMQPError) -> [TopologyFinding] {
        var unseen: [TopologyFinding] = []
        switch await management?.settledSnapshot(of: topology, onWait: onWait) {
        case .success(let snapshot):
            return TopologyDiff(topology: topology, snapshot: snapshot, advice: advice).findings
        case .failure(let failure):
            unseen = [TopologyFinding(subject: "management API", state: .unseen, advice: failure.message)]
        case nil: break
        }
        admin.start()
        do {
            try await admin.waitUntilReady(deadlineSeconds: deadlineSeconds)
            let findings = try await TopologyProbe(admin: admin, topology: topology, advice: advice).findings()
            await admin.close()
            return findings + unseen
        } catch {
            await admin.close()
            throw error
        }
    }

    /// Returns the depths, consumers and limits of the topology's queues and of other queues that are bound to its
    /// exchanges. Only the management API shows the limits and the other queues. Streams are not included, because they
    /// have no depth.
    ///
    /// - Parameter admin: started and closed by this function.
    /// - Throws: if the broker cannot be reached.
    public func queueConditions(
        by admin: BrokerAdmin, deadlineSeconds: Int
    ) async throws(AMQPError) -> QueueConditions {
        let answer = await management?.snapshot(of: topology)
        var conditions = QueueConditions(topology: topology, statuses: [], management: answer, advice: advice)
        let own = topology.queues.filter { !$0.isStream }.map(\.name)
        let shown = (try? answer?.get())?.queues.keys.sorted() ?? []
        let others = shown.filter { name in !topology.queues.contains { $0.name == name } }
        admin.start()
        do {
            try await admin.waitUntilReady(deadlineSeconds: deadlineSeconds)
            for queue in own + others {
                if let status = try await status(of: queue, by: admin) { conditions.statuses.append(status) }
            }
        } catch {
            await admin.close()
            throw error
        }
        await admin.close()
        return conditions
    }

    /// Returns the status of a queue; nil if the queue is missing or the user lacks the permission to read it.
    private func status(of queue: String, by admin: BrokerAdmin) async throws(AMQPError) -> QueueStatus? {
        do {
            return try await admin.status(ofQueue: queue)
        } catch {
            guard !error.isUnreachable else { throw error }
            return nil
        }
    }
}
