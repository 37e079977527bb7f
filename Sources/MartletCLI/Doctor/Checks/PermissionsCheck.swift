import AMQP
import BrokerTopology
import Configuration

extension DoctorCheck {
    /// The check of the user's permissions against the permissions that a worker needs. Publishes and consumes
    /// nothing.
    static let permissions = DoctorCheck(name: "permissions", secondsMax: 30) { context, loop, findings in
        guard let broker = context.broker, let topology = context.topology, let connector = try? BrokerConnector(broker)
        else {
            return [.unseen("permissions", "the broker settings are missing or have mistakes")]
        }
        let admin = connector.admin(named: "martlet doctor", on: loop, deadlineSeconds: brokerAnswerSecondsMax)
        admin.start()
        let lines = await lines(WorkerPermissions(topology), broker, admin, findings)
        await admin.close(deadlineSeconds: 1)
        return lines
    }

    private static func lines(
        _ permissions: WorkerPermissions, _ broker: WorkerConfiguration.Broker, _ admin: BrokerAdmin,
        _ findings: DoctorFindings
    ) async -> [DoctorLine] {
        let user = broker.prefersCertificate ? "USER-OF-CERTIFICATE" : broker.url.credentials.user
        func refuse(_ what: String) {
            let command = RabbitmqctlScript.command(
                .worker(permissions, user: user), virtualHost: broker.url.virtualHost)
            findings.found(.failure("permissions", "\(user) may not \(what)", remedy: command))
        }
        var asked = 0
        do throws(AMQPError) {
            // A refused login gives no information on permissions.
            try await admin.waitUntilReady(deadlineSeconds: brokerAnswerSecondsMax)
            for exchange in permissions.writtenExchanges {
                let mayPublish = try await seen { () async throws(AMQPError) in
                    try await admin.mayPublish(toExchange: exchange)
                }
                if mayPublish != nil { asked += 1 }
                if mayPublish == false {
                    refuse("publish to \(exchange.isEmpty ? BrokerAdmin.defaultExchange : exchange)")
                }
            }
            for queue in permissions.readQueues {
                let mayConsume = try await seen { () async throws(AMQPError) in
                    try await admin.mayConsume(fromQueue: queue)
                }
                if mayConsume != nil { asked += 1 }
                if mayConsume == false { refuse("consume from \(queue)") }
            }
        } catch {
            return [.unseen("permissions", "cannot query the broker: \(error.message)")]
        }
        guard findings.lines.isEmpty else { return [] }
        guard asked > 0 else {
            return [.unseen("permissions", "the exchanges and queues do not exist", remedy: TopologyAdvice.apply)]
        }
        return [.ok("permissions", "\(user) has the permissions of a worker (\(asked) permissions checked)")]
    }

    /// Returns whether the user has the permission; nil if the exchange or queue does not exist.
    private static func seen(_ ask: () async throws(AMQPError) -> Bool) async throws(AMQPError) -> Bool? {
        do {
            return try await ask()
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}
