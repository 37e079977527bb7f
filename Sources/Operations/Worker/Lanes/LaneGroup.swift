import APNS
import Delivery
import EventLoop
import Telemetry

/// The lanes of one version of the configuration, from their start to their end.
///
/// `@unchecked Sendable`: touched on the control loop's thread only.
final class LaneGroup: @unchecked Sendable {
    let components: WorkerComponents
    let version: ConfigurationVersion
    let lanes: [LaneThread]
    var payloadSchemas: PayloadSchemas
    /// nil: it takes no commands for broadcast channels, or no more.
    var channels: ChannelCommandRuntime?
    private(set) var isStarted = false
    private(set) var readiness: Readiness
    private var watchdog: LaneWatchdog
    /// Numbers of those that were told to take no more messages, and take none.
    private var stopped: Set<Int> = []
    private var whenStopped: (() -> Void)?
    /// Numbers of those that have settled what they held.
    private var drained: Set<Int> = []
    /// Numbers of those whose threads have ended.
    private(set) var ended: Set<Int> = []

    /// - Throws: when the process is out of descriptors.
    init(_ version: ConfigurationVersion, _ components: WorkerComponents, log: Log) throws(TransportError) {
        (self.version, self.components) = (version, components)
        lanes = try components.laneConnectors.map { _ throws(TransportError) in try LaneThread() }
        payloadSchemas = components.lane.payloadSchemas
        readiness = Readiness(lanes: components.laneConnectors.count)
        watchdog = LaneWatchdog(log: log)
    }

    var hasEnded: Bool { ended.count == lanes.count && channels == nil }
    /// Those that hold, or may hold, messages.
    var undrained: [Int] { isStarted ? lanes.indices.filter { !drained.contains($0) } : [] }
    /// Numbers of those that do not turn.
    var stalled: [Int] { watchdog.stalled }
    /// Those that answer.
    var turning: [Int] { isStarted ? lanes.indices.filter { !ended.contains($0) && !stalled.contains($0) } : [] }

    /// By number: the lane, or nil where it would not answer.
    var asked: [LaneThread?] {
        let turning = turning
        return lanes.enumerated().map { turning.contains($0) ? $1 : nil }
    }

    /// Starts one after the other. Those that cannot be have nothing to settle, and have ended.
    func start(_ start: (Int) throws(TransportError) -> Void) throws(TransportError) {
        isStarted = true
        for index in lanes.indices {
            do throws(TransportError) {
                try start(index)
            } catch {
                drained.formUnion(index..<lanes.count)
                ended.formUnion(index..<lanes.count)
                throw error
            }
        }
    }

    /// - Parameter files: in another version; others than its own are none of its business.
    func replace(_ files: PayloadSchemaFiles) {
        guard files.areNamed(as: components.configuration.payloadSchemas) else { return }
        payloadSchemas = components.payloadSchemas(files)
        for index in undrained { lanes[index].replace(payloadSchemas) }
    }

    func take(_ news: TokenNews, of credential: Credential.Name) {
        for index in undrained { lanes[index].take(news, of: credential) }
        channels?.take(news, of: credential)
    }

    func watch(now: MonotonicTime) {
        if isStarted { watchdog.check(lanes, without: ended, now: now) }
    }

    /// Whether that changes the whole.
    func laneChanged(_ index: Int, _ state: LaneState) -> Bool { readiness.lane(index, state) }

    func laneStopped(_ index: Int) {
        stopped.insert(index)
        if !isTaking { stopWaiting() }
    }

    /// Whether one may take a message yet that comes now.
    private var isTaking: Bool { turning.contains { !stopped.contains($0) } }

    /// Calls `act` once none does, or at `stopWaiting`.
    func whenTakesNoMore(_ act: @escaping () -> Void) {
        whenStopped = act
        if !isTaking { stopWaiting() }
    }

    func stopWaiting() { whenStopped.take()?() }

    func laneDrained(_ index: Int) { drained.insert(index) }

    func laneEnded(_ index: Int) { ended.insert(index) }
}
