import EventLoop

/// One check of `martlet doctor`. Checks run concurrently. A failed check does not delay or hide another check.
struct DoctorCheck: Sendable {
    let name: String
    /// Timeout in seconds.
    let secondsMax: Int
    /// The function that performs the check. It returns the last lines, and passes earlier lines to
    /// `DoctorFindings.found`.
    let perform: @Sendable (DoctorContext, EpollLoop, DoctorFindings) async -> [DoctorLine]

    /// All checks, in the order in which they start.
    static let all: [DoctorCheck] = [
        .libraries, .configuration, .files, .keys, .schemas, .broker, .permissions, .topology, .deliveryLimits, .queues,
        .fleetControl, .registrations, .apns, .clock,
    ]

    static let nameWidth = 15

    /// Runs the check until it completes or times out. A timeout adds a failure, with the pending endpoints if any.
    ///
    /// - Parameter write: called for each line as soon as it is found.
    func lines(
        _ context: DoctorContext, on loop: EpollLoop, write: @escaping (DoctorLine) -> Void = { _ in }
    ) async -> [DoctorLine] {
        let findings = DoctorFindings(loop: loop, write: write)
        return await withUnsafeContinuation { continuation in
            findings.continuation = continuation
            let timer = loop.schedule(after: .seconds(secondsMax)) { findings.end(unanswered(findings)) }
            Task(executorPreference: loop) {
                findings.end(await perform(context, loop, findings))
                loop.cancel(timer)
            }
        }
    }

    private func unanswered(_ findings: DoctorFindings) -> [DoctorLine] {
        let what =
            findings.awaited.isEmpty
            ? "no \(findings.lines.isEmpty ? "" : "further ")result"
            : "no response from \(findings.awaited.joined(separator: ", "))"
        return [
            .failure(
                name, "\(what) within \(secondsMax) s",
                remedy: "check for a firewall that drops packets and for a stopped process")
        ]
    }
}
