import EventLoop

/// One of the things that `martlet doctor` looks at, apart from all others: none waits for another, and none hides one.
struct DoctorCheck: Sendable {
    let name: String
    /// How long it may take before it is given up.
    let secondsMax: Int
    let look: @Sendable (DoctorScene, EventLoop) async -> [DoctorLine]

    /// In the order in which they are told.
    static let all: [DoctorCheck] = [
        .libraries, .configuration, .keys, .schemas, .broker, .permissions, .topology, .deliveryLimits, .apns, .clock,
    ]

    static let nameWidth = 15

    /// What it finds, or that it found nothing in time.
    func lines(_ scene: DoctorScene, on loop: EventLoop) async -> [DoctorLine] {
        let answer = FirstAnswer()
        return await withUnsafeContinuation { continuation in
            answer.continuation = continuation
            loop.schedule(after: .seconds(secondsMax)) {
                answer.give([
                    .failure(
                        name, "nothing was found out within \(secondsMax) s",
                        remedy: "what is silent on the way: a firewall that drops packets, a process that is stopped?")
                ])
            }
            Task(executorPreference: loop) { answer.give(await look(scene, loop)) }
        }
    }

    /// `@unchecked Sendable`: used on the loop only.
    private final class FirstAnswer: @unchecked Sendable {
        var continuation: UnsafeContinuation<[DoctorLine], Never>?

        /// Those that come later are let go.
        func give(_ lines: [DoctorLine]) {
            let continuation = continuation
            self.continuation = nil
            continuation?.resume(returning: lines)
        }
    }
}
