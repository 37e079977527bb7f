import EventLoop
import Registrations

/// A batch of commands that a task waits for.
final class AwaitedBatch: CommandBatch {
    let reply = StoreReply<[CommandOutcome]>()
    private let loop: EventLoop
    private let begin: MonotonicTime
    /// The time that the store needed. Zero until the batch is completed.
    private(set) var duration = Duration.zero

    init(_ commands: [RegistrationCommand], ends: [StoredEnd], rules: RegistrationRules, on loop: EventLoop) {
        (self.loop, begin) = (loop, loop.now.monotonic)
        super.init(commands, ends: ends, rules: rules)
    }

    override func completed(_ outcomes: [CommandOutcome]) {
        duration = begin.duration(to: loop.now.monotonic)
        reply.complete(.success(outcomes))
    }

    override func failed(_ fault: StoreFault) { reply.complete(.failure(fault)) }
}

/// A page of registrations that a task waits for.
final class AwaitedPage: RegistrationPage {
    struct Content: Sendable {
        var registrations: [Registration]
        /// The key after which the next page begins; nil after the last page.
        var last: Registration.Key?
    }

    let reply = StoreReply<Content>()

    override func completed(_ registrations: [Registration], last: Registration.Key?) {
        reply.complete(.success(Content(registrations: registrations, last: last)))
    }

    override func failed(_ fault: StoreFault) { reply.complete(.failure(fault)) }
}

/// A page of marks that a task waits for.
final class AwaitedMarkPage: MarkPage {
    let reply = StoreReply<[EndMark]>()

    override func completed(_ marks: [EndMark]) { reply.complete(.success(marks)) }

    override func failed(_ fault: StoreFault) { reply.complete(.failure(fault)) }
}

/// A page of edited registrations that a task waits for.
final class AwaitedEdit: EditPage {
    struct Outcome: Sendable {
        /// The last key of the page; nil after the last page.
        var last: Registration.Key?
        var editedCount: Int
        var unreadableCount: Int
        /// The maximum number of registrations in a page. Only the last page may have fewer.
        var rowsMax: Int
    }

    let reply = StoreReply<Outcome>()

    override func completed(last: Registration.Key?, editedCount: Int, unreadableCount: Int) {
        reply.complete(
            .success(
                Outcome(last: last, editedCount: editedCount, unreadableCount: unreadableCount, rowsMax: rowsMax)))
    }

    override func failed(_ fault: StoreFault) { reply.complete(.failure(fault)) }
}
