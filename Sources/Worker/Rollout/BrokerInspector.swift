import AMQP
import BrokerManagement
import BrokerTopology
import Configuration
import Delivery
import EventLoop
import Telemetry

/// The queries of a worker process to the broker: the topology before lanes start, and the depths of queues.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class BrokerInspector: @unchecked Sendable {
    private let loop: EventLoop
    private let log: Log
    private let commands: CommandAdvice
    private var readiness: TopologyReadiness?
    private(set) var queues: QueueMonitor?

    init(in environment: LaneEnvironment) {
        (loop, log, commands) = (environment.loop, environment.log, environment.commands)
    }

    /// The reason why lanes wait for the topology; nil if no lanes wait.
    var missing: String? { readiness?.reason }

    /// Reports `topologyChecked` once the topology is complete. Cancels an earlier wait.
    func awaitTopology(of generation: WorkerRollout.Generation, handler: RolloutHandler) {
        let (former, components) = (readiness, generation.version.components)
        let connector = components.brokerConnector
        let readiness = TopologyReadiness(
            components.topology, admin: connector.admin(named: "martlet worker start", on: loop),
            place: connector.place,
            advice: commands.completed(TopologyAdvice.apply), log: log)
        self.readiness = readiness
        Task(executorPreference: loop) {
            await readiness.waitUntilComplete()
            guard self.readiness === readiness else { return }
            self.readiness = nil
            handler.handle(.topologyChecked(generation.number, nil))
        }
        Task(executorPreference: loop) { await former?.close() }
    }

    /// Cancels the wait for a topology, if any, and then calls `completion`.
    func endWait(_ completion: @escaping @Sendable () -> Void) {
        guard let readiness = readiness.take() else { return completion() }
        Task(executorPreference: loop) {
            await readiness.close()
            completion()
        }
    }

    /// Checks the topology and reports `topologyChecked`.
    func checkTopology(of generation: WorkerRollout.Generation, handler: RolloutHandler) {
        Task(executorPreference: loop) {
            let obstacle = await self.obstacle(to: generation.version.components)
            handler.handle(.topologyChecked(generation.number, obstacle))
        }
    }

    private func obstacle(to components: WorkerComponents) async -> Obstacle? {
        let seconds = RolloutLimits.brokerSecondsMax
        let admin = components.brokerConnector.admin(named: "martlet worker change", on: loop, deadlineSeconds: seconds)
        admin.start()
        var obstacle: Obstacle?
        do throws(AMQPError) {
            try await admin.waitUntilReady(deadlineSeconds: seconds)
            let missing = try await RequiredTopology(components.topology).missing(at: admin)
            if !missing.isEmpty {
                obstacle = .permanent(
                    RequiredTopology.sentence(missing, advice: commands.completed(TopologyAdvice.apply)))
            }
        } catch {
            obstacle = .temporary("cannot reach the broker at \(components.brokerConnector.place): \(error)")
        }
        await admin.close(deadlineSeconds: Lane.closeDeadlineSeconds)
        return obstacle
    }

    /// Starts to monitor the queues of `components`, instead of the previous queues.
    func monitorQueues(of components: WorkerComponents) {
        let former = queues
        let next = QueueMonitor(
            components.topology, admin: components.brokerConnector.admin(named: "martlet worker queues", on: loop),
            unroutedAdvice: commands.completed(QueueMonitor.unroutedAdvice), log: log)
        queues = next
        // Do not capture the components. The task may outlive the generation, whose TLS contexts need megabytes.
        Task(executorPreference: loop) {
            await former?.close()
            await next.run()
        }
    }

    func stopMonitoring() { Task(executorPreference: loop) { await self.queues?.close() } }
}
