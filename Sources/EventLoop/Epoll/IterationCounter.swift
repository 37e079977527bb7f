import Synchronization

/// Counts the count of a loop; read from other threads to see that it moves.
public final class IterationCounter: Sendable {
    private let count = Atomic<UInt64>(0)

    public var value: UInt64 { count.load(ordering: .relaxed) }

    func advance() {
        count.add(1, ordering: .relaxed)
    }
}
