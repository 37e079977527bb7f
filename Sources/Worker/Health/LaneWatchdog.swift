import EventLoop
import Telemetry

/// A watchdog that checks the progress of lanes from the control loop. Logs stalled and recovered lanes.
struct LaneWatchdog {
    private let log: Log
    private var detectors: [StallDetector] = []

    /// Numbers of the stalled lanes.
    private(set) var stalled: [Int] = []

    init(log: Log) { self.log = log }

    /// Checks all lanes and updates `stalled`.
    ///
    /// - Parameter lanes: the thread of each lane; nil for a lane without a thread.
    mutating func check(_ lanes: [LaneThread?], now: MonotonicTime) {
        while detectors.count < lanes.count { detectors.append(StallDetector()) }
        defer { stalled = lanes.indices.filter { detectors[$0].isStalled && lanes[$0] != nil } }
        for case (let index, let lane?) in lanes.enumerated() {
            switch detectors[index].check(iterations: lane.loop.iterations.value, now: now) {
            case .none: break
            case .ping: lane.loop.post {}
            case .stalled(let silence):
                log.error(.laneStalled, Self.metadata(index, silence))
            case .recovered(let silence):
                log.warning(.laneRecovered, Self.metadata(index, silence))
                lane.loop.post {}
            }
        }
    }

    private static func metadata(_ index: Int, _ silence: Duration) -> KeyValuePairs<LogKey, LogValue?> {
        [.lane: .integer(index), .durationMilliseconds: .milliseconds(silence)]
    }
}
