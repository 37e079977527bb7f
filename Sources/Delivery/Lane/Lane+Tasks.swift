import AMQP

/// Tasks that deliver one message after the other: what one has grown to, it keeps for the next message.
extension Lane {
    /// Tasks that wait for a message; further ones end with theirs. Each holds about 8 KB.
    private static let idleTasksMax = 256

    /// A delivery and the number of its consumer.
    typealias Arrival = (delivery: IncomingMessage, source: Int)

    func take(_ delivery: IncomingMessage, from source: Int) {
        if let idle = idleTasks.popLast() { return idle.resume(returning: (delivery, source)) }
        guard !configuration.defects.leavesTheExecutor else {
            Task.detached { await self.deliver(delivery, from: source) }
            return
        }
        Task(executorPreference: loop) { await self.deliverOneByOne((delivery, source)) }
    }

    private func deliverOneByOne(_ first: Arrival) async {
        var arrival: Arrival? = first
        while let (delivery, source) = arrival {
            await deliver(delivery, from: source)
            guard idleTasks.count < Self.idleTasksMax, !state.isDraining else { return }
            arrival = await withUnsafeContinuation { idleTasks.append($0) }
        }
    }

    func endIdleTasks() {
        while let idle = idleTasks.popLast() { idle.resume(returning: nil) }
    }
}
