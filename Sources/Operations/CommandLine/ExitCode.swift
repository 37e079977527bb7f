/// How the process ends. `martlet --help` prints this table; scripts and supervisors rely on it.
public enum ExitCode: Int32, Sendable, CaseIterable {
    case success = 0
    case failed = 1
    case usage = 2
    case unreachable = 3
    case timedOut = 4
    case interrupted = 130
    case terminated = 143

    /// The one that says more of what went wrong.
    static func worse(_ one: ExitCode, _ other: ExitCode) -> ExitCode { one.rawValue > other.rawValue ? one : other }

    var meaning: String {
        switch self {
        case .success: "done; a worker: told to stop, and everything it held is settled"
        case .failed: "not done: the broker refused it, a message was not confirmed, a document is invalid"
        case .usage: "the command line or the configuration is wrong; nothing was started"
        case .unreachable: "the broker cannot be reached, or the connection was lost (a worker waits instead)"
        case .timedOut: "time ran out: --timeout, or a worker's drain deadline (the broker redelivers what was held)"
        case .interrupted: "stopped at once by SIGINT (a worker: by the second one)"
        case .terminated: "stopped at once by SIGTERM (a worker: by the second one)"
        }
    }
}
