import EventLoop
import Telemetry

/// Watches from the control loop that lanes turn, and tells of one that does not.
struct LaneWatchdog {
    private let log: Log
    private var detectors: [StallDetector] = []

    init(log: Log) { self.log = log }

    mutating func check(_ lanes: [LaneThread], now: MonotonicTime) {
        while detectors.count < lanes.count { detectors.append(StallDetector()) }
        for index in lanes.indices {
            switch detectors[index].check(turns: lanes[index].loop.turns.value, now: now) {
            case .none: break
            case .ping: lanes[index].loop.post {}
            case .stalled(let silence):
                log.error("a lane has stopped turning", Self.metadata(index, silence))
            case .recovered(let silence):
                log.warning("a lane turns again", Self.metadata(index, silence))
                lanes[index].loop.post {}
            }
        }
    }

    private static func metadata(_ index: Int, _ silence: Duration) -> KeyValuePairs<LogKey, LogValue> {
        [.lane: .integer(index), .durationMilliseconds: .milliseconds(silence)]
    }
}
