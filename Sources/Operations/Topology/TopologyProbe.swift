import AMQP
import Delivery

/// Compares a topology with the broker as far as AMQP shows it, and changes nothing: whether things are there, and, to a
/// user who may declare them, whether declaring them once more would be the same.
struct TopologyProbe {
    let admin: BrokerAdmin
    let topology: Topology
    let advice: TopologyAdvice

    /// In the order of the topology, with a last one for what is not seen.
    ///
    /// - Throws: when the connection is lost.
    func findings() async throws(AMQPError) -> [TopologyFinding] {
        var findings: [TopologyFinding] = []
        var undeclarable = 0
        if let hashing = topology.exchanges.first(where: { $0.kind == .consistentHash }),
            try await !admin.hashesConsistently(hashing.name)
        {
            findings.append(.missingPlugin)
        }
        for exchange in topology.exchanges {
            let (finding, isWhole) = try await look(
                "exchange \(exchange.name)", differs: advice.migrate(exchange: exchange.name)
            ) { () async throws(AMQPError) in
                try await admin.exchangeExists(exchange.name)
            } declare: { () async throws(AMQPError) in
                try await admin.declare(exchange)
            }
            findings.append(finding)
            if !isWhole { undeclarable += 1 }
        }
        for queue in topology.queues(at: BrokerVersion(admin.serverProperties)) {
            let (finding, isWhole) = try await look(
                "queue \(queue.name)", differs: advice.migrate(queue: queue.name)
            ) { () async throws(AMQPError) in
                try await admin.queueExists(queue.name)
            } declare: { () async throws(AMQPError) in
                do throws(AMQPError) {
                    try await admin.declare(queue)
                } catch {
                    // A policy may bound it, which AMQP does not show.
                    guard topology.isBounded(queue.name), error.isAboutBounds else { throw error }
                }
            }
            findings.append(finding)
            if !isWhole { undeclarable += 1 }
        }
        if undeclarable > 0 {
            findings.append(
                TopologyFinding(
                    subject: "arguments of \(undeclarable) exchanges and queues", state: .unseen,
                    advice: "only to a user who may declare them, or by amqp.management_url"))
        }
        findings.append(
            TopologyFinding(
                subject: "bindings, policies and bounds", state: .unseen,
                advice: "AMQP does not show them; amqp.management_url does"))
        return findings
    }

    private func look(
        _ subject: String, differs migration: String, exists: () async throws(AMQPError) -> Bool,
        declare: () async throws(AMQPError) -> Void
    ) async throws(AMQPError) -> (TopologyFinding, isWhole: Bool) {
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
            return (
                TopologyFinding(subject: subject, state: .differs, advice: "\(error.message); \(migration)"), true
            )
        }
        return (TopologyFinding(subject: subject, state: .present), true)
    }
}
