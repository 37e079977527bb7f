import EventLoop

/// The lines and the pending endpoints of one check.
///
/// `@unchecked Sendable`: only the thread of one loop uses the object.
final class DoctorFindings: @unchecked Sendable {
    private let loop: EventLoop
    private let write: (DoctorLine) -> Void
    private(set) var lines: [DoctorLine] = []
    /// Endpoints that were queried and have not responded.
    private(set) var awaited: [String] = []
    /// The continuation that receives all lines when the check completes or times out.
    var continuation: UnsafeContinuation<[DoctorLine], Never>?

    init(loop: EventLoop, write: @escaping (DoctorLine) -> Void) {
        self.loop = loop
        self.write = write
    }

    /// Adds and writes a line. Does nothing after the check has completed or timed out.
    func found(_ line: DoctorLine) {
        guard continuation != nil else { return }
        lines.append(line)
        write(line)
    }

    /// Runs `question` for all places concurrently, and returns when all calls have returned.
    func collect(_ places: [String], _ question: @escaping @Sendable (Int) async -> Void) async {
        awaited += places
        let asked = places.indices.map { index in
            Task(executorPreference: loop) { [self] in
                await question(index)
                if let answered = awaited.firstIndex(of: places[index]) { awaited.remove(at: answered) }
            }
        }
        for task in asked { await task.value }
    }

    func end(_ last: [DoctorLine]) {
        for line in last { found(line) }
        continuation?.resume(returning: lines)
        continuation = nil
    }
}
