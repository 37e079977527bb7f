import EventLoop
import Telemetry

/// Watches from the control loop that lanes turn, and tells of one that does not.
struct LaneWatchdog {
    private let log: Log
    private var detectors: [StallDetector] = []

    /// Numbers of the lanes that do not turn.
    var stalled: [Int] { detectors.indices.filter { detectors[$0].isStalled } }

    init(log: Log) { self.log = log }

    mutating func check(_ lanes: [LaneThread], now: MonotonicTime) {
        while detectors.count < lanes.count { detectors.append(StallDetector()) }
        for index in lanes.indices {
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
