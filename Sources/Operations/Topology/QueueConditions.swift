import AMQP
import Delivery

/// Queues as delivery depends on them: whether requests wait that nothing consumes, and whether a queue is full and
/// refuses messages.
struct QueueConditions: Sendable {
    /// What stops delivery at one queue.
    struct Fault: Equatable, Sendable {
        var queue: String
        var text: String
        var remedy: String
    }

    let topology: Topology
    /// Depth and consumers, as AMQP shows them at once; queues that are missing, or may not be looked at, are left out.
    var statuses: [QueueStatus]
    /// Limits of queues; nil: the configuration does not say where the management API is.
    var management: Result<BrokerPicture, ManagementAPI.Failure>?
    var advice = TopologyAdvice(virtualHost: "/")

    private var picture: BrokerPicture? { management.flatMap { try? $0.get() } }

    var faults: [Fault] { unconsumed + full }

    /// Messages of a queue; nil if it was not seen.
    func status(of queue: String) -> QueueStatus? { statuses.first { $0.name == queue } }

    private var unconsumed: [Fault] {
        let names = topology.names
        return (names.takenQueues + [names.quarantineQueue, names.expiredQueue]).compactMap { queue in
            guard let status = status(of: queue), status.messages > 0, status.consumers == 0 else { return nil }
            let wait = status.messages == 1 ? "1 request waits" : "\(status.messages) requests wait"
            return Fault(
                queue: queue, text: "\(wait) and no worker consumes",
                remedy: "start a worker: martlet worker; if one runs, martlet status shows why it does not consume")
        }
    }

    private var full: [Fault] {
        statuses.compactMap { status in
            guard let queue = picture?.queues[status.name], queue.rejectsPublishes else { return nil }
            let reached = [
                queue.limit("max-length").flatMap { status.messages >= $0 ? ("max-length", $0) : nil },
                queue.limit("max-length-bytes").flatMap { queue.readyBytes >= $0 ? ("max-length-bytes", $0) : nil },
            ].compactMap(\.self)
            guard !reached.isEmpty else { return nil }
            let limits = reached.map { "\($0.0) \($0.1)" }
            let policy = queue.policyNames.isEmpty ? "" : ", policy \(queue.policyNames)"
            return Fault(
                queue: status.name,
                text: "full (\(status.messages) ready, \(limits.joined(separator: ", "))\(policy)) and refuses more: "
                    + effect(of: status.name),
                remedy: "consume from \(status.name), or \(change(of: status.name, queue, reached.map(\.0)))")
        }
    }

    /// What ends the refusals: a policy changes neither a limit nor an overflow that an argument decides.
    private func change(of name: String, _ queue: BrokerPicture.Queue, _ reached: [String]) -> String {
        let ofPolicy = "policy \(queue.policyNames)"
        if reached.allSatisfy({ !queue.isLimitedByArgument($0) }) {
            return "raise \(reached.joined(separator: " and ")) in \(ofPolicy)"
        }
        if queue.arguments["x-overflow"] == nil { return "set overflow to drop-head in \(ofPolicy)" }
        let deletion = advice.deletion(ofQueue: name)
        return "run \(deletion) once it is empty and declare it with other arguments, which alone decide here"
    }

    /// What a refusal by the queue stops.
    private func effect(of queue: String) -> String {
        let names = topology.names
        if names.takenQueues.contains(queue) { return "requests cannot be published" }
        let exchanges = picture?.bindings.filter { $0.queue == queue }.map(\.exchange) ?? []
        if exchanges.contains(names.resultsExchange) || exchanges.contains(names.unroutedExchange) {
            return "results cannot be published, and workers stop"
        }
        return "workers cannot publish to it, and stop"
    }
}

extension BrokerPicture.Queue {
    fileprivate var rejectsPublishes: Bool {
        (arguments["x-overflow"] ?? policy["overflow"])?.hasPrefix("reject-publish") ?? false
    }

    /// Of argument and policy, the lower one holds.
    fileprivate func limit(_ key: String) -> Int? {
        [arguments["x-\(key)"], policy[key]].compactMap { $0.flatMap { Int($0) } }.min()
    }

    fileprivate func isLimitedByArgument(_ key: String) -> Bool {
        arguments["x-\(key)"].flatMap { Int($0) }.map { $0 == limit(key) } ?? false
    }
}

extension TopologyTarget {
    /// Depth, consumers and limits of the topology's queues, and of other queues that its exchanges lead to.
    ///
    /// - Parameter admin: is started and closed.
    /// - Throws: when the broker cannot be reached.
    func queueConditions(by admin: BrokerAdmin, deadlineSeconds: Int) async throws(AMQPError) -> QueueConditions {
        let answer = await management?.picture(of: topology)
        var conditions = QueueConditions(topology: topology, statuses: [], management: answer, advice: advice)
        let own = topology.queues.map(\.name)
        let shown = (try? answer?.get())?.queues.keys.sorted() ?? []
        let others = shown.filter { !own.contains($0) }
        admin.start()
        do {
            try await admin.waitUntilReady(deadlineSeconds: deadlineSeconds)
            for queue in own + others {
                if let status = try await seen(queue, by: admin) { conditions.statuses.append(status) }
            }
        } catch {
            await admin.close()
            throw error
        }
        await admin.close()
        return conditions
    }

    private func seen(_ queue: String, by admin: BrokerAdmin) async throws(AMQPError) -> QueueStatus? {
        do {
            return try await admin.status(ofQueue: queue)
        } catch {
            guard !error.isUnreachable else { throw error }
            return nil
        }
    }
}
