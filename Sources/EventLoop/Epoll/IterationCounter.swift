import Synchronization

/// Counts the iterations of a loop, so that other threads can check that it makes progress.
public final class IterationCounter: Sendable {
    private let count = Atomic<UInt64>(0)

    public var value: UInt64 { count.load(ordering: .relaxed) }

    func advance() {
        count.add(1, ordering: .relaxed)
    }
}
