import ControlProtocol
import Delivery
import EventLoop
import Telemetry
import TestKit

@testable import Configuration
@testable import Worker

/// A worker's part of fleet control. The worker has no lanes.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class FleetWorker: RolloutHandler, @unchecked Sendable {
    private let name: String
    let local: PauseControl
    let pauses: FleetPauses
    private let generation: WorkerRollout.Generation
    private let loop: EventLoop
    private var control: FleetControl?
    /// The times at which the worker was permitted to consume requests.
    private(set) var permissions: [MonotonicTime] = []
    /// The descriptions of the scopes that were paused at each of these times.
    private(set) var pausedAtPermissions: [Set<String>] = []
    private(set) var isClosed = false

    /// Reads the configuration of a worker, which any number of workers may share.
    ///
    /// - Parameter sections: the sections for fleet control.
    static func generation(
        _ folder: TemporaryDirectory, broker url: String, prefix: String = "push", _ sections: String = "fleet: {}"
    ) throws -> WorkerRollout.Generation {
        let path = try folder.write(
            "martlet.yaml",
            """
            amqp: {url: "\(url)", prefix: \(prefix)}
            apns: {keys: [{key_id: ABCDE12345, team_id: TEAM123456, key_file: key.p8}]}
            apps: {com.example.app: {}}
            lanes: 1
            \(sections)
            """)
        return WorkerRollout.Generation(
            number: 0, version: try PreparedVersion(try ConfigurationVersion(readFrom: path)))
    }

    init(_ name: String, _ generation: WorkerRollout.Generation, on loop: EventLoop, log: Log = .silent) throws {
        (self.name, self.generation, self.loop) = (name, generation, loop)
        let environment = LaneEnvironment(
            loop: loop, log: log, spans: nil, commands: CommandAdvice(configPath: "martlet.yaml"))
        let groups = try LaneGroups(generation, in: environment)
        local = PauseControl(groups, in: environment)
        pauses = FleetPauses(local, in: environment)
        super.init()
        control = FleetControl(
            pauses, FleetJournal(in: environment), local: local, probes: ProbeControl(groups: groups, loop: loop),
            in: environment, handler: self
        ) { [weak self] answer in
            if let self { answer(snapshot) }
        }
    }

    func start() { control?.start(generation.version.components) }

    /// Changes the configuration.
    func change(to generation: WorkerRollout.Generation) { control?.changed(generation.version.components) }

    /// Ends fleet control, as the end of the worker does. Later calls do nothing.
    func close() { control.take()?.close { self.isClosed = true } }

    override func handle(_ event: WorkerRollout.Event) {
        guard case .processStarted = event else { return }
        permissions.append(loop.now.monotonic)
        pausedAtPermissions.append(paused)
    }

    /// The name by which commands address the worker. Workers of one process share it.
    var address: String { generation.version.components.lane.worker }

    /// The descriptions of the paused scopes.
    var paused: Set<String> { Set(local.scopes.map(\.description)) }

    private var snapshot: WorkerSnapshot {
        var status = WorkerStatus(worker: name)
        status.fleet = pauses.status
        status.paused = local.scopes.map(\.description)
        status.pauses = local.reports(at: loop.now)
        return WorkerSnapshot(status: status, lanes: [], retired: [])
    }
}
