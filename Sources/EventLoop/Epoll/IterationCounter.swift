import Synchronization

/// A counter of a loop's iterations, with which other threads can check that the loop makes progress.
public final class IterationCounter: Sendable {
    private let count = Atomic<UInt64>(0)

    public var value: UInt64 { count.load(ordering: .relaxed) }

    func advance() {
        count.add(1, ordering: .relaxed)
    }
}
