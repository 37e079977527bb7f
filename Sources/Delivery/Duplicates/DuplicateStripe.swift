import EventLoop
import Threads

/// One share of the memory of duplicates, with the deliveries that wait for deliveries in flight. Each stripe has its
/// own lock, so that lanes rarely contend.
///
/// `@unchecked Sendable`: the content is accessed only under the lock.
final class DuplicateStripe: @unchecked Sendable {
    struct Content {
        var table: DuplicateTable
        private var waiters: [DeduplicationKey: [DuplicateMemory.Waiter]] = [:]

        init(settledMax: Int) {
            table = DuplicateTable(settledMax: settledMax)
        }

        mutating func wait(for key: DeduplicationKey, _ waiter: DuplicateMemory.Waiter) {
            waiters[key, default: []].append(waiter)
        }

        /// Removes and returns the waiters of a lane that ends, in no particular order.
        mutating func takeWaiters(of owner: ObjectIdentifier) -> [DuplicateMemory.Waiter] {
            var taken: [DuplicateMemory.Waiter] = []
            for (key, waiting) in waiters where waiting.contains(where: { $0.owner == owner }) {
                taken += waiting.filter { $0.owner == owner }
                let rest = waiting.filter { $0.owner != owner }
                waiters[key] = rest.isEmpty ? nil : rest
            }
            return taken
        }

        mutating func takeWaiters(_ key: DeduplicationKey) -> [DuplicateMemory.Waiter] {
            waiters.isEmpty ? [] : waiters.removeValue(forKey: key) ?? []
        }
    }

    private let lock = ThreadLock()
    private var content: Content

    init(settledMax: Int) {
        content = Content(settledMax: settledMax)
    }

    func withLock<Result>(_ body: (inout Content) -> Result) -> Result {
        lock.withLock { body(&content) }
    }
}
