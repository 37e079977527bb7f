import APNS
import Configuration
import Delivery
import EventLoop
import RegistrationStores
import Telemetry

/// The lanes of one generation, from their start to their end. A generation is one rollout of a configuration version.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class LaneGroup: @unchecked Sendable {
    typealias Event = WorkerRollout.Event

    let number: Int
    let version: PreparedVersion
    private(set) var lanes: [LaneHandle]
    private(set) var payloadSchemas: PayloadSchemas
    /// The execution of channel commands; nil before its start, after its end, and if the group accepts no commands.
    private(set) var channels: ChannelCommandRuntime?
    /// The consumer of registration commands; nil before its start, after its end, and if the group has no store.
    private(set) var registrations: RegistrationThread?
    /// The store of device registrations; nil before the start and if the configuration has none.
    private(set) var store: RegistrationStore?
    private(set) var readiness: Readiness
    private var watchdog: LaneWatchdog

    init(_ generation: WorkerRollout.Generation, log: Log) {
        number = generation.number
        version = generation.version
        lanes = version.components.laneConnectors.map { _ in .planned }
        payloadSchemas = version.components.lane.payloadSchemas
        readiness = Readiness(lanes: lanes.count)
        watchdog = LaneWatchdog(log: log)
    }

    var configuration: WorkerConfiguration { version.configuration }
    var components: WorkerComponents { version.components }
    var isStarted: Bool { !lanes.allSatisfy(\.isPlanned) }
    var hasEnded: Bool { lanes.allSatisfy(\.hasEnded) && channels == nil && registrations == nil }
    /// Lanes that may have unacknowledged deliveries.
    var undrained: [LaneThread] { lanes.compactMap(\.undrained) }
    /// Numbers of the stalled lanes.
    var stalled: [Int] { watchdog.stalled }

    /// The thread of each lane; nil for a lane that cannot answer.
    var responsive: [LaneThread?] {
        lanes.enumerated().map { stalled.contains($0) ? nil : $1.thread }
    }

    /// Whether a lane may accept a request that arrives now.
    private var isConsuming: Bool { lanes.indices.contains { lanes[$0].isRunning && !stalled.contains($0) } }

    /// Starts the lanes, the execution of channel commands, and the consumer of registration commands.
    ///
    /// - Parameter store: nil if the configuration has no store.
    /// - Throws: if a lane or the consumer of registration commands cannot start. Some lanes may have started by then.
    func start(
        tokens: [Credential.Name: TokenSupply], pauses: [Pause], store: RegistrationStore?,
        in environment: LaneEnvironment, handler: RolloutHandler
    ) throws(TransportError) {
        self.store = store
        try start { index throws(TransportError) in
            var configuration = components.lane
            configuration.payloadSchemas = payloadSchemas
            configuration.number = index
            configuration.completeRemedy = environment.commands.completed
            let thread = try LaneThread()
            try thread.start(
                configuration, connectors: components.laneConnectors[index], tokens: tokens, store: store,
                in: environment,
                reporter: LaneReporter(lane: index, group: self, loop: environment.loop, handler: handler))
            for pause in pauses { thread.pause(pause.scope, true) { _ in } }
            return thread
        }
        channels = configuration.channels.map {
            ChannelCommandRuntime($0, components, tokens: tokens, in: environment)
        }
        try startRegistrations(in: environment, handler: handler)
    }

    private func startRegistrations(in environment: LaneEnvironment, handler: RolloutHandler) throws(TransportError) {
        guard let settings = configuration.registrations, let store else { return }
        let (thread, loop) = (try RegistrationThread(), environment.loop)
        try thread.start(settings, store, components, in: environment) {
            loop.post {
                self.registrations = nil
                if self.hasEnded { handler.handle(.ended(self.number)) }
            }
        }
        registrations = thread
    }

    /// Starts the lanes in order. If a lane cannot start, that lane and the following lanes count as ended, because
    /// they have no deliveries.
    func start(_ start: (Int) throws(TransportError) -> LaneThread) throws(TransportError) {
        for index in lanes.indices {
            do throws(TransportError) {
                lanes[index] = .running(try start(index))
            } catch {
                for index in index..<lanes.count { lanes[index] = .ended }
                throw error
            }
        }
    }

    /// Stops consuming, settles the deliveries, and ends the lanes and the consumers of commands. The process
    /// continues. Returns the events that follow immediately.
    func finish(deadlineSeconds: Int, handler: RolloutHandler, on loop: EventLoop) -> [Event] {
        if !isStarted { lanes = lanes.map { _ in .ended } }
        for lane in undrained { lane.finish(deadlineSeconds: deadlineSeconds) }
        closeConsumers(deadlineSeconds: deadlineSeconds, handler: handler, on: loop)
        return (isConsuming ? [] : [.stoppedConsuming(number)]) + (hasEnded ? [.ended(number)] : [])
    }

    func drain(deadlineSeconds: Int, handler: RolloutHandler, on loop: EventLoop) {
        for lane in undrained { lane.drain(deadlineSeconds: deadlineSeconds) }
        closeConsumers(deadlineSeconds: deadlineSeconds, handler: handler, on: loop)
    }

    private func closeConsumers(deadlineSeconds: Int, handler: RolloutHandler, on loop: EventLoop) {
        registrations?.close(deadlineSeconds: deadlineSeconds)
        guard let channels else { return }
        Task(executorPreference: loop) {
            await channels.close(deadlineSeconds: deadlineSeconds)
            self.channels = nil
            if self.hasEnded { handler.handle(.ended(self.number)) }
        }
    }

    /// Replaces the payload schemas on the lanes.
    ///
    /// - Parameter files: ignored if the configuration of the group names other files.
    func replace(_ files: PayloadSchemaFiles) {
        guard files.areNamed(as: configuration.payloadSchemas) else { return }
        payloadSchemas = components.payloadSchemas(files)
        for lane in undrained { lane.replace(payloadSchemas) }
    }

    func apply(_ update: ProviderTokenUpdate, of credential: Credential.Name) {
        for lane in undrained { lane.apply(update, of: credential) }
        channels?.apply(update, of: credential)
    }

    func checkProgress(now: MonotonicTime) { watchdog.check(lanes.map(\.thread), now: now) }
}

/// The reports of lanes. Each function returns the events that follow from a report.
extension LaneGroup {
    func laneChanged(_ lane: Int, _ state: LaneState) -> [Event] {
        readiness.lane(lane, state) ? [readinessChanged(by: lane)] : []
    }

    private func readinessChanged(by lane: Int) -> Event {
        .readinessChanged(number, isReady: readiness.isReady, lane: lane)
    }

    func laneStopped(_ lane: Int) -> [Event] {
        guard case .running(let thread) = lanes[lane] else { return [] }
        return change(lane, to: .stopped(thread))
    }

    func laneDrained(_ lane: Int, unfinished: Int) -> [Event] {
        guard let thread = lanes[lane].undrained else { return [] }
        return [.laneDrained(unfinished: unfinished)] + change(lane, to: .drained(thread))
    }

    func laneEnded(_ lane: Int) -> [Event] {
        let isLost = lanes[lane].undrained != nil
        let events = change(lane, to: .ended)
        guard isLost else { return events }
        let readiness = readiness.laneEnded(lane) ? [readinessChanged(by: lane)] : []
        // The end of an undrained lane is a defect. The number of unfinished deliveries is unknown, so report one.
        return readiness + [.laneDrained(unfinished: 1)] + events
    }

    private func change(_ lane: Int, to handle: LaneHandle) -> [Event] {
        let (wasConsuming, hadEnded) = (isConsuming, hasEnded)
        lanes[lane] = handle
        return (wasConsuming && !isConsuming ? [.stoppedConsuming(number)] : [])
            + (!hadEnded && hasEnded ? [.ended(number)] : [])
    }
}
