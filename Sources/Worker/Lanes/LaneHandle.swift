/// One lane of a group, from its plan to the end of its thread.
enum LaneHandle {
    /// A lane without a thread. To: running, ended.
    case planned
    /// A lane that may consume. To: stopped, drained, ended.
    case running(LaneThread)
    /// A lane that settles its deliveries and no longer consumes. To: drained, ended.
    case stopped(LaneThread)
    /// A lane that has drained and whose thread ends next. To: ended.
    case drained(LaneThread)
    /// A lane whose thread has ended or could not be started.
    case ended

    var thread: LaneThread? {
        switch self {
        case .running(let thread), .stopped(let thread), .drained(let thread): thread
        case .planned, .ended: nil
        }
    }

    /// The thread of the lane; nil if the lane cannot have unacknowledged deliveries.
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
