import EventLoop
import Registrations

/// The commands that wait for the store, and the batch that the store writes. The queue chooses the next batch. Pure.
///
/// The store writes one batch at a time, while commands of the next batch arrive. The queue halves a batch that fails
/// because of its values, until the faulty command is alone. The queue also halves a batch that fails repeatedly for
/// another reason. Such a batch may exceed a limit of the server, such as the duration of a statement.
struct CommandQueue<Command> {
    /// The time that the first command of a batch waits for further commands, unless the batch is full.
    static var collectMilliseconds: Int64 { 5 }

    private enum Writing {
        /// A store that writes no batch. To: batch.
        case none
        /// A store that writes these commands. To: none.
        case batch([Command])
    }

    enum Step {
        case write([Command])
        /// A decision that is due at this time, or after the next command.
        case wait(until: MonotonicTime)
        /// A decision that is due after the next command, or after the end of the current batch.
        case none
    }

    private var writing = Writing.none
    /// Failed batches, and halves of batches. The store writes the last one next, before the waiting commands.
    private var repeated: [[Command]] = []
    private var waiting = FIFO<(command: Command, arrivedAt: MonotonicTime)>()

    var isEmpty: Bool {
        if case .batch = writing { return false }
        return repeated.isEmpty && waiting.isEmpty
    }

    mutating func append(_ command: Command, now: MonotonicTime) { waiting.append((command, now)) }

    /// Begins the next batch if it is due. Call this only while the store accepts work.
    mutating func next(now: MonotonicTime) -> Step {
        guard case .none = writing else { return .none }
        if let batch = repeated.popLast() { return begin(batch) }
        guard let first = waiting.first else { return .none }
        let dueAt = first.arrivedAt + .milliseconds(Self.collectMilliseconds)
        guard waiting.count >= CommandBatch.commandsMax || dueAt <= now else { return .wait(until: dueAt) }
        var batch: [Command] = []
        while batch.count < CommandBatch.commandsMax, let next = waiting.popFirst() { batch.append(next.command) }
        return begin(batch)
    }

    private mutating func begin(_ batch: [Command]) -> Step {
        writing = .batch(batch)
        return .write(batch)
    }

    private mutating func end() -> [Command] {
        guard case .batch(let batch) = writing else { preconditionFailure("no batch is being written") }
        writing = .none
        return batch
    }

    /// Ends the current batch, which is committed.
    mutating func committed() { _ = end() }

    /// Ends the current batch, which will be written again. Halves the batch after a repeated failure.
    mutating func failed(isRepeatedFailure: Bool) {
        let batch = end()
        if !isRepeatedFailure || !queueHalves(of: batch) { repeated.append(batch) }
    }

    /// Ends the current batch, which failed because of its values. Returns the faulty command if the batch had no other
    /// command. Otherwise queues the halves of the batch and returns nil.
    mutating func refused() -> Command? {
        let batch = end()
        return queueHalves(of: batch) ? nil : batch.first
    }

    /// Returns false if the batch has fewer than two commands.
    private mutating func queueHalves(of batch: [Command]) -> Bool {
        guard batch.count > 1 else { return false }
        let middle = batch.count / 2
        repeated.append(Array(batch[middle...]))
        repeated.append(Array(batch[..<middle]))
        return true
    }

    /// Removes the commands that match `isRemoved` and are not being written. Returns the removed commands.
    mutating func removeAll(where isRemoved: (Command) -> Bool = { _ in true }) -> [Command] {
        var removed: [Command] = []
        func keeps(_ command: Command) -> Bool {
            if isRemoved(command) { removed.append(command) } else { return true }
            return false
        }
        repeated = repeated.map { $0.filter(keeps) }.filter { !$0.isEmpty }
        var kept = FIFO<(command: Command, arrivedAt: MonotonicTime)>()
        while let next = waiting.popFirst() {
            if keeps(next.command) { kept.append(next) }
        }
        waiting = kept
        return removed
    }
}
