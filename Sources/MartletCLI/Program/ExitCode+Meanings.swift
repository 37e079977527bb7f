import CommandKit

extension ExitCode {
    static let unreachable = ExitCode(rawValue: 3)
    static let timedOut = ExitCode(rawValue: 4)
    static let interrupted = ExitCode(rawValue: 130)
    static let terminated = ExitCode(rawValue: 143)

    /// The exit codes in the output of `martlet --help`. Scripts and supervisors rely on these codes.
    static let meanings: [(code: ExitCode, meaning: String)] = [
        (.success, "success; worker: stopped after it settled its deliveries"),
        (.failed, "failure: refused by the broker, message not confirmed, document invalid"),
        (.usage, "invalid command line or configuration; nothing started"),
        (.unreachable, "broker or registration store unreachable, or connection lost (a worker waits instead)"),
        (
            .timedOut,
            "timeout: --timeout, or a worker's drain deadline (the broker redelivers unacknowledged requests)"
        ),
        (.interrupted, "stopped by SIGINT (worker: by the second signal)"),
        (.terminated, "stopped by SIGTERM (worker: by the second signal)"),
    ]

    /// Returns the higher code, which is the more specific error.
    static func worse(_ one: ExitCode, _ other: ExitCode) -> ExitCode { one.rawValue > other.rawValue ? one : other }
}
