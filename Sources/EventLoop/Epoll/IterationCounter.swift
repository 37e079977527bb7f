import Synchronization

/// Counts the turns of a loop; read from other threads to see that it moves.
public final class IterationCounter: Sendable {
    private let turns = Atomic<UInt64>(0)

    public var value: UInt64 { turns.load(ordering: .relaxed) }

    func advance() {
        turns.add(1, ordering: .relaxed)
    }
}
