import CLinux

/// Decides when a worker drains and how it ends.
struct WorkerLife {
    enum Action: Equatable {
        case none
        /// Take no more messages, settle those that are held.
        case drain
        /// All is settled that will be: end once the lanes' threads have.
        case finish(ExitCode)
        /// End at once, whatever the lanes are doing.
        case abort(ExitCode)
    }

    private enum Phase {
        /// To: draining, ended.
        case running
        /// So many lanes are still settling. To: ended.
        case draining(lanes: Int, unfinished: Int)
        case ended
    }

    private var phase = Phase.running

    /// Not told to stop yet.
    var isRunning: Bool {
        if case .running = phase { true } else { false }
    }

    /// SIGTERM or SIGINT: the first drains, the second ends at once.
    ///
    /// - Parameter lanes: so many hold messages, or may.
    mutating func signalled(_ signal: Int32, lanes: Int) -> Action {
        switch phase {
        case .running:
            phase = .draining(lanes: lanes, unfinished: 0)
            return .drain
        case .draining:
            phase = .ended
            return .abort(signal == SIGINT ? .interrupted : .terminated)
        case .ended:
            return .none
        }
    }

    /// A lane has settled all but `unfinished` deliveries.
    mutating func laneDrained(unfinished: Int) -> Action {
        guard case .draining(let lanes, let before) = phase else { return .none }
        guard lanes <= 1 else {
            phase = .draining(lanes: lanes - 1, unfinished: before + unfinished)
            return .none
        }
        phase = .ended
        return .finish(before + unfinished == 0 ? .success : .timedOut)
    }

    /// Lanes should all have told by now.
    mutating func graceEnded() -> Action {
        guard case .draining = phase else { return .none }
        phase = .ended
        return .abort(.timedOut)
    }
}
