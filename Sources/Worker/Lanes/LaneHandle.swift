/// One lane of a group, from its plan to the end of its thread.
enum LaneHandle {
    /// No thread yet. To: running, ended.
    case planned
    /// May consume. To: stopped, drained, ended.
    case running(LaneThread)
    /// No longer consumes; settles its deliveries. To: drained, ended.
    case stopped(LaneThread)
    /// Holds no deliveries; closes its connections. To: ended.
    case drained(LaneThread)
    /// The thread has ended, or could not be started.
    case ended

    var thread: LaneThread? {
        switch self {
        case .running(let thread), .stopped(let thread), .drained(let thread): thread
        case .planned, .ended: nil
        }
    }

    /// Nil if the lane cannot hold deliveries.
    var undrained: LaneThread? {
        switch self {
        case .running(let thread), .stopped(let thread): thread
        case .planned, .drained, .ended: nil
        }
    }

    var isPlanned: Bool { if case .planned = self { true } else { false } }
    var isRunning: Bool { if case .running = self { true } else { false } }
    var hasEnded: Bool { if case .ended = self { true } else { false } }
}
