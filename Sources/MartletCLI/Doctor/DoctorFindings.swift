import EventLoop

/// What one check has found so far, and whom it waits for.
///
/// `@unchecked Sendable`: used on the loop only.
final class DoctorFindings: @unchecked Sendable {
    private let loop: EventLoop
    private let write: (DoctorLine) -> Void
    private(set) var lines: [DoctorLine] = []
    /// Those who were asked and have not answered.
    private(set) var awaited: [String] = []
    /// Resumed with all lines at the end.
    var continuation: UnsafeContinuation<[DoctorLine], Never>?

    init(loop: EventLoop, write: @escaping (DoctorLine) -> Void) {
        self.loop = loop
        self.write = write
    }

    /// What is found after the end is let go.
    func found(_ line: DoctorLine) {
        guard continuation != nil else { return }
        lines.append(line)
        write(line)
    }

    /// Asks all of them at once.
    func ask(_ places: [String], _ question: @escaping @Sendable (Int) async -> Void) async {
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
