import CommandKit

extension ExitCode {
    static let unreachable = ExitCode(rawValue: 3)
    static let timedOut = ExitCode(rawValue: 4)
    static let interrupted = ExitCode(rawValue: 130)
    static let terminated = ExitCode(rawValue: 143)

    /// Those of `martlet`, as `martlet --help` prints them; scripts and supervisors rely on them.
    static let meanings: [(code: ExitCode, meaning: String)] = [
        (.success, "done; a worker: told to stop, and everything it held is settled"),
        (.failed, "not done: the broker refused it, a message was not confirmed, a document is invalid"),
        (.usage, "the command line or the configuration is wrong; nothing was started"),
        (.unreachable, "the broker cannot be reached, or the connection was lost (a worker waits instead)"),
        (
            .timedOut,
            "time ran out: --timeout, or a worker's drain deadline (the broker redelivers what was held)"
        ),
        (.interrupted, "stopped at once by SIGINT (a worker: by the second one)"),
        (.terminated, "stopped at once by SIGTERM (a worker: by the second one)"),
    ]

    /// Returns the code that says more of what went wrong.
    static func worse(_ one: ExitCode, _ other: ExitCode) -> ExitCode { one.rawValue > other.rawValue ? one : other }
}
