import EventLoop

/// Somebody waits for a request; for ``RequestMemory/cancel(_:)``.
public struct RequestWait: Sendable, Hashable {
    fileprivate let id: UInt64
}

/// Those who wait for a request that is not there yet. Each is told once: of the request, or of the deadline.
struct RequestWaits {
    /// Waits at once: fewer than requests that the admin port holds, so that there is always room for a short one.
    static let waitsMax = 48

    private struct Waiting {
        var wait: RequestWait
        var query: RequestQuery
        var timer: TimerToken?
        var done: (RequestQuery?) -> Void
    }

    private var waiting: [Waiting] = []
    private var lastID: UInt64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// Notes one more; nil when there are too many.
    ///
    /// - Parameter done: called with what to look for once a request came; with nil when none did.
    mutating func add(_ query: RequestQuery, _ done: @escaping (RequestQuery?) -> Void) -> RequestWait? {
        guard waiting.count < Self.waitsMax else { return nil }
        lastID += 1
        let wait = RequestWait(id: lastID)
        waiting.append(Waiting(wait: wait, query: query, timer: nil, done: done))
        return wait
    }

    mutating func setTimer(_ timer: TimerToken, of wait: RequestWait) {
        guard let index = waiting.firstIndex(where: { $0.wait == wait }) else { return }
        waiting[index].timer = timer
    }

    /// Takes one out: what to call, with which query, and its timer.
    mutating func remove(
        _ wait: RequestWait
    ) -> (done: (RequestQuery?) -> Void, query: RequestQuery, timer: TimerToken?)? {
        guard let index = waiting.firstIndex(where: { $0.wait == wait }) else { return nil }
        let removed = waiting.remove(at: index)
        return (removed.done, removed.query, removed.timer)
    }

    /// Numbers begin anew: whatever comes now comes after all that came before.
    mutating func restartNumbers() {
        for index in waiting.indices where waiting[index].query.after != nil { waiting[index].query.after = 0 }
    }

    /// Those who wait for this request.
    func waits(for request: RequestView) -> [RequestWait] {
        waiting.filter { $0.query.matches(request) }.map(\.wait)
    }
}
