public import AMQP
public import EventLoop

extension TestBrokerClient {
    /// Publishes messages at a steady rate and waits for the confirms.
    ///
    /// - Returns: The time at which each message was passed to the publisher.
    /// - Throws: `ProcessError` if a message is not confirmed.
    public func publish(_ messages: [OutgoingMessage], perSecond rate: Int) async throws -> [MonotonicTime] {
        let begin = loop.now.monotonic
        var times: [MonotonicTime] = []
        let refused = await withTaskGroup(of: Bool.self) { group in
            for (number, message) in messages.enumerated() {
                let due = begin + .nanoseconds(1_000_000_000 / Int64(rate) * Int64(number))
                let wait = loop.now.monotonic.duration(to: due)
                if wait > .zero { await loop.sleep(for: wait) }
                times.append(loop.now.monotonic)
                group.addTask { await self.publish(message) == .confirmed }
            }
            var refused = 0
            for await isConfirmed in group where !isConfirmed { refused += 1 }
            return refused
        }
        guard refused == 0 else { throw ProcessError("\(refused) of \(messages.count) messages not confirmed") }
        return times
    }
}
