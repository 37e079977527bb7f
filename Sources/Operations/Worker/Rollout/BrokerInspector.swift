import AMQP
import Delivery
import EventLoop
import Telemetry

/// Asks the broker for what the worker process decides and reports: the topology before lanes start, the depths of queues.
///
/// `@unchecked Sendable`: used on the control loop only.
final class BrokerInspector: @unchecked Sendable {
    private let loop: EventLoop
    private let log: Log
    private let commands: CommandAdvice
    private var wait: TopologyWait?
    private(set) var queues: QueueDepths?

    init(in environment: LaneEnvironment) {
        (loop, log, commands) = (environment.loop, environment.log, environment.commands)
    }

    /// The part of the topology that is missing, while lanes wait for it.
    var missing: String? { wait?.reason }

    /// Reports `topologyChecked` once the topology is complete. Ends an earlier wait.
    func awaitTopology(of generation: WorkerRollout.Generation, handler: RolloutHandler) {
        let (former, components) = (wait, generation.version.components)
        let wait = TopologyWait(
            loop: loop, access: components.brokerAccess, topology: components.topology, commands: commands, log: log)
        self.wait = wait
        Task(executorPreference: loop) {
            await wait.untilComplete()
            guard self.wait === wait else { return }
            self.wait = nil
            handler.handle(.topologyChecked(generation.number, nil))
        }
        Task(executorPreference: loop) { await former?.close() }
    }

    /// Ends the wait for a topology, if there is one, and then calls `completion`.
    func endWait(_ completion: @escaping @Sendable () -> Void) {
        guard let wait = wait.take() else { return completion() }
        Task(executorPreference: loop) {
            await wait.close()
            completion()
        }
    }

    /// Reports `topologyChecked`.
    func checkTopology(of generation: WorkerRollout.Generation, handler: RolloutHandler) {
        Task(executorPreference: loop) {
            let obstacle = await self.obstacle(to: generation.version.components)
            handler.handle(.topologyChecked(generation.number, obstacle))
        }
    }

    private func obstacle(to components: WorkerComponents) async -> Obstacle? {
        let seconds = RolloutLimits.brokerSecondsMax
        let admin = components.brokerAccess.admin(named: "martlet worker change", on: loop, deadlineSeconds: seconds)
        admin.start()
        var obstacle: Obstacle?
        do throws(AMQPError) {
            try await admin.waitUntilReady(deadlineSeconds: seconds)
            let missing = try await TopologyCheck(components.topology).missing(at: admin)
            if !missing.isEmpty { obstacle = .permanent(TopologyWait.sentence(missing, commands)) }
        } catch {
            obstacle = .temporary("the broker at \(components.brokerAccess.place) cannot be reached: \(error)")
        }
        await admin.close(deadlineSeconds: Lane.closeDeadlineSeconds)
        return obstacle
    }

    /// Replaces the queues that were monitored before.
    func monitorQueues(of components: WorkerComponents) {
        // The task may outlive the generation: it holds no TLS contexts of lanes, which need megabytes.
        let (access, topology) = (components.brokerAccess, components.topology)
        Task(executorPreference: loop) {
            await self.queues?.close()
            let queues = QueueDepths(
                loop: self.loop, access: access, topology: topology, log: self.log, commands: self.commands)
            self.queues = queues
            await queues.watch()
        }
    }

    func stopMonitoring() { Task(executorPreference: loop) { await self.queues?.close() } }
}
