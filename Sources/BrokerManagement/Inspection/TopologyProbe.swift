import AMQP
import BrokerTopology

/// A comparison of a topology with the broker over AMQP. The comparison changes nothing. AMQP shows whether objects
/// exist, but shows their arguments only to a user with the permission to declare the objects.
struct TopologyProbe {
    let admin: BrokerAdmin
    let topology: Topology
    let advice: TopologyAdvice

    /// Returns findings in the order of the topology. The last finding names the parts that AMQP does not show.
    ///
    /// - Throws: if the connection is lost.
    func findings() async throws(AMQPError) -> [TopologyFinding] {
        var findings: [TopologyFinding] = []
        var undeclarable = 0
        if let hashing = topology.exchanges.first(where: { $0.kind == .consistentHash }),
            try await !admin.hashesConsistently(hashing.name)
        {
            findings.append(.missingPlugin)
        }
        for exchange in topology.exchanges {
            let (finding, isComplete) = try await inspect(
                "exchange \(exchange.name)", remedy: advice.migrate(exchange: exchange.name)
            ) { () async throws(AMQPError) in
                try await admin.exchangeExists(exchange.name)
            } declare: { () async throws(AMQPError) in
                try await admin.declare(exchange)
            }
            findings.append(finding)
            if !isComplete { undeclarable += 1 }
        }
        for queue in topology.queues(at: BrokerVersion(admin.serverProperties)) {
            let (finding, isComplete) = try await inspect(
                "queue \(queue.name)", remedy: advice.migrate(queue)
            ) { () async throws(AMQPError) in
                try await admin.queueExists(queue.name)
            } declare: { () async throws(AMQPError) in
                do throws(AMQPError) {
                    try await admin.declare(queue)
                } catch {
                    // A policy may set the bounds, and AMQP does not show policies.
                    guard topology.isBounded(queue.name), error.isAboutBounds else { throw error }
                }
            }
            findings.append(finding)
            if !isComplete { undeclarable += 1 }
        }
        if undeclarable > 0 {
            findings.append(
                TopologyFinding(
                    subject: "arguments of \(undeclarable) exchanges and queues", state: .unseen,
                    advice: "visible only to a user that may declare these objects, or with amqp.management_url set"))
        }
        findings.append(
            TopologyFinding(
                subject: "bindings, policies and bounds", state: .unseen,
                advice: "not shown by AMQP: set amqp.management_url"))
        return findings
    }

    /// Compares one object with the topology.
    ///
    /// - Parameter remedy: the remedy if the object has other properties.
    /// - Returns: the finding, and false if the broker shows the object but not its arguments.
    private func inspect(
        _ subject: String, remedy: String, exists: () async throws(AMQPError) -> Bool,
        declare: () async throws(AMQPError) -> Void
    ) async throws(AMQPError) -> (TopologyFinding, isComplete: Bool) {
        do {
            guard try await exists() else {
                return (TopologyFinding(subject: subject, state: .missing, advice: TopologyAdvice.apply), true)
            }
        } catch {
            guard !error.isUnreachable else { throw error }
            return (TopologyFinding(subject: subject, state: .unseen, advice: error.message), true)
        }
        do {
            try await declare()
        } catch {
            guard !error.isUnreachable else { throw error }
            guard error.code == .preconditionFailed else {
                return (TopologyFinding(subject: subject, state: .present), false)
            }
            return (TopologyFinding(subject: subject, state: .differs, advice: "\(error.message); \(remedy)"), true)
        }
        return (TopologyFinding(subject: subject, state: .present), true)
    }
}
