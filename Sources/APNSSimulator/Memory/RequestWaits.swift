import EventLoop

/// The identifier of a wait, for ``RequestMemory/cancel(_:)``.
public struct RequestWait: Sendable, Hashable {
    fileprivate let id: UInt64
}

/// The pending waits for requests. ``RequestMemory`` calls the handler of each wait once, at a matching request or at
/// the timeout, unless the wait is canceled.
struct RequestWaits {
    /// Maximum number of waits. The limit is below the admin port's limit of pending requests, so the port can still
    /// serve other requests.
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

    /// Adds a wait. Returns nil if ``waitsMax`` waits are pending.
    ///
    /// - Parameter done: called with the wait's query after a matching request, or with nil after the timeout.
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

    /// Removes a wait. Returns its handler, query and timer; nil if the wait was already removed.
    mutating func remove(
        _ wait: RequestWait
    ) -> (done: (RequestQuery?) -> Void, query: RequestQuery, timer: TimerToken?)? {
        guard let index = waiting.firstIndex(where: { $0.wait == wait }) else { return nil }
        let removed = waiting.remove(at: index)
        return (removed.done, removed.query, removed.timer)
    }

    /// Sets `after` to 0 in each query that has an `after`, because the numbers of requests restart.
    mutating func restartNumbers() {
        for index in waiting.indices where waiting[index].query.after != nil { waiting[index].query.after = 0 }
    }

    /// Returns the waits whose query matches this request.
    func waits(for request: RequestView) -> [RequestWait] {
        waiting.filter { $0.query.matches(request) }.map(\.wait)
    }
}
