import EventLoop
import Telemetry

/// Watches from the control loop that lanes turn, and tells of one that does not.
struct LaneWatchdog {
    private let log: Log
    private var detectors: [StallDetector] = []

    /// Numbers of the lanes that do not turn.
    private(set) var stalled: [Int] = []

    init(log: Log) { self.log = log }

    /// - Parameter ended: numbers of those that have ended, and turn no more.
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
