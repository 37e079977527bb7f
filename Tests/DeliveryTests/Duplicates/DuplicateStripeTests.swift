import Testing

@testable import Delivery

@Suite struct DuplicateStripeTests {
    private final class Owner {}

    private let key = DeduplicationKey(high: 1, low: 2)

    // Deliveries of several lanes may wait for the same request.
    @Test func theEndOfALaneKeepsTheWaitersOfOtherLanes() {
        let (ending, other) = (Owner(), Owner())
        let waiters = [ending, other, ending].map { DuplicateMemory.Waiter(owner: ObjectIdentifier($0)) }
        var content = DuplicateStripe.Content(settledMax: 10)
        for waiter in waiters { content.wait(for: key, waiter) }
        let ended = content.takeWaiters(of: ObjectIdentifier(ending))
        #expect(ended.map(ObjectIdentifier.init) == [waiters[0], waiters[2]].map(ObjectIdentifier.init))
        let rest = content.takeWaiters(key)
        #expect(rest.map(ObjectIdentifier.init) == [ObjectIdentifier(waiters[1])])
        let none = content.takeWaiters(of: ObjectIdentifier(other)) + content.takeWaiters(key)
        #expect(none.isEmpty)
    }
}
