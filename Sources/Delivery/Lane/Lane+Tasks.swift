import AMQP
import EventLoop

/// Tasks that deliver one message after the other: what one has grown to, it keeps for the next message.
extension Lane {
    /// Tasks that wait for a message, as many as a lane has under way that is full by default; further ones end with theirs.
    /// Each holds about 1.3 KB.
    private static let idleTasksMax = 1024

    func take(_ delivery: consuming IncomingMessage, from source: Int) {
        let record = DeliveryRecord(of: delivery, from: source, loop.now)
        if let idle = idleTasks.popLast() {
            idleTasks.suffix(2).first?.prefetchTask()
            idleTasks.last?.prefetchContext()
            return idle.resume(returning: record)
        }
        // The closure of a task lives as long as the task: it must not own the first message.
        let first = Unmanaged.passRetained(record)
        guard !configuration.defects.leavesTheExecutor else {
            Task(executorPreference: globalConcurrentExecutor) { await self.deliverOneByOne(first.takeRetainedValue()) }
            return
        }
        Task { await deliverOneByOne(first.takeRetainedValue()) }
    }

    @inline(never) private func deliverOneByOne(_ first: consuming DeliveryRecord) async {
        var next: DeliveryRecord? = consume first
        while let record = next.take() {
            await deliver(consume record)
            guard idleTasks.count < Self.idleTasksMax, !state.isDraining else { return }
            next = await withUnsafeContinuation { idleTasks.append($0) }
        }
    }

    func endIdleTasks() {
        while let idle = idleTasks.popLast() { idle.resume(returning: nil) }
    }
}
