import EventLoop

/// The limited places for chunks of requests to users. A request without a place waits. The places bound the memory of
/// chunks and the number of unconfirmed children.
///
/// Pure.
struct ChunkPlaces<Waiter> {
    static var placesMax: Int { 16 }

    private var taken = 0
    private var waiting = FIFO<Waiter>()

    /// Takes a free place and returns true. Adds the waiter and returns false if no place is free.
    mutating func take(orWait waiter: @autoclosure () -> Waiter) -> Bool {
        guard taken < Self.placesMax else {
            waiting.append(waiter())
            return false
        }
        taken += 1
        return true
    }

    /// Releases a place. Returns the waiter that takes the place; nil if none waits.
    mutating func release() -> Waiter? {
        if let next = waiting.popFirst() { return next }
        taken -= 1
        return nil
    }

    /// Removes and returns the first waiter, without giving it a place; nil if none waits.
    mutating func popWaiter() -> Waiter? { waiting.popFirst() }
}
