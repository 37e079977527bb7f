import EventLoop
import Telemetry

/// Checks from the control loop that lanes make progress, and logs stalled lanes.
struct LaneWatchdog {
    private let log: Log
    private var detectors: [StallDetector] = []

    /// Numbers of the stalled lanes.
    private(set) var stalled: [Int] = []

    init(log: Log) { self.log = log }

    /// - Parameter ended: numbers of the lanes whose threads have ended.
    mutating func check(_ lanes: [LaneThread], without ended: Set<Int>, now: MonotonicTime) {
        while detectors.count < lanes.count { detectors.append(StallDetector()) }
        defer { stalled = lanes.indices.filter { detectors[$0].isStalled && !ended.contains($0) } }
        for index in lanes.indices where !ended.contains(index) {
            switch detectors[index].check(turns: lanes[index].loop.turns.value, now: now) {
            case .none: break
            case .ping: lanes[index].loop.post {}
            case .stalled(let silence):
                log.error(.laneStalled, Self.metadata(index, silence))
            case .recovered(let silence):
                log.warning(.laneRecovered, Self.metadata(index, silence))
                lanes[index].loop.post {}
            }
        }
    }

    private static func metadata(_ index: Int, _ silence: Duration) -> KeyValuePairs<LogKey, LogValue?> {
        [.lane: .integer(index), .durationMilliseconds: .milliseconds(silence)]
    }
}
