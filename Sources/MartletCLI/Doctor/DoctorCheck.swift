import EventLoop

/// One of the things that `martlet doctor` looks at, apart from all others: none waits for another, and none hides one.
struct DoctorCheck: Sendable {
    let name: String
    /// How long it may take before it is given up.
    let secondsMax: Int
    /// Returns what it finds last; what it finds on the way it writes.
    let look: @Sendable (DoctorContext, EventLoop, DoctorFindings) async -> [DoctorLine]

    /// In the order in which they are begun.
    static let all: [DoctorCheck] = [
        .libraries, .configuration, .files, .keys, .schemas, .broker, .permissions, .topology, .deliveryLimits, .queues,
        .apns,
        .clock,
    ]

    static let nameWidth = 15

    /// What it finds, and at the end of its time what has not answered.
    ///
    /// - Parameter write: called for each line as it is found.
    func lines(
        _ context: DoctorContext, on loop: EventLoop, write: @escaping (DoctorLine) -> Void = { _ in }
    ) async -> [DoctorLine] {
        let findings = DoctorFindings(loop: loop, write: write)
        return await withUnsafeContinuation { continuation in
            findings.continuation = continuation
            let timer = loop.schedule(after: .seconds(secondsMax)) { findings.end(unanswered(findings)) }
            Task(executorPreference: loop) {
                findings.end(await look(context, loop, findings))
                loop.cancel(timer)
            }
        }
    }

    private func unanswered(_ findings: DoctorFindings) -> [DoctorLine] {
        let what =
            findings.awaited.isEmpty
            ? "\(findings.lines.isEmpty ? "nothing" : "no more") was found out"
            : "no answer of \(findings.awaited.joined(separator: ", "))"
        return [
            .failure(
                name, "\(what) within \(secondsMax) s",
                remedy: "what is silent on the way: a firewall that drops packets, a process that is stopped?")
        ]
    }
}
