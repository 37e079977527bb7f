import EventLoop

/// The places for requests to users whose chunks are in memory. Further requests wait, so that chunks use bounded memory
/// and a bounded part of the publisher.
///
/// Pure.
struct ChunkPlaces<Waiter> {
    static var placesMax: Int { 16 }

    private var taken = 0
    private var waiting = FIFO<Waiter>()

    /// Takes a place, or adds the waiter. Returns whether a place was free.
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

    /// Removes and returns the first waiter, without a place.
    mutating func popWaiter() -> Waiter? { waiting.popFirst() }
}
