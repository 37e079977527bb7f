/// One lane of a group, from its plan to the end of its thread.
enum LaneHandle {
    /// Without a thread. To: running, ended.
    case planned
    /// May consume. To: stopped, drained, ended.
    case running(LaneThread)
    /// Consumes no more, and settles the deliveries that it holds. To: drained, ended.
    case stopped(LaneThread)
    /// Holds no deliveries, and closes its connections. To: ended.
    case drained(LaneThread)
    /// The thread has ended, or the system had none left.
    case ended

    var thread: LaneThread? {
        switch self {
        case .running(let thread), .stopped(let thread), .drained(let thread): thread
        case .planned, .ended: nil
        }
    }

    /// nil: the lane can hold no deliveries.
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
