import Testing

@testable import EventLoop

@Suite struct FIFOTests {
    // A queue that is never empty must still release removed elements.
    @Test func removedElementsAreReleasedAndMemoryIsBounded() {
        var queue = FIFO<Int>()
        for number in 0..<1500 { queue.append(number) }
        for number in 1500..<20_000 {
            #expect(queue.popFirst() == number - 1500)
            queue.append(number)
            #expect(queue.count == 1500)
        }
        #expect(queue.elements.count < 4096)
    }
}
