import AMQP
import BrokerTopology
import EventLoop
import Registrations
import Telemetry

/// A valid command that waits for the store.
struct WaitingCommand {
    let received: ReceivedCommand
    let delivery: CommandDelivery
    let destination: ReplyDestination
    /// Whether a worker published the command, according to the verified user ID and the header `push-worker`.
    let isWorkers: Bool
}

/// The intake of registration commands. It reads commands and passes each valid command to the store. It then publishes
/// the events and the reply, and settles the delivery. An invalid command becomes a dead letter.
///
/// Loop-bound.
final class CommandIntake {
    /// Maximum time that a command remains unacknowledged. The intake then requeues the command. By default, the broker
    /// closes the channel of a delivery that is unacknowledged for 30 minutes.
    static let unacknowledgedSecondsMax: Int64 = 600
    private static let reviewSeconds: Int64 = 1

    private enum Lifecycle {
        /// To: stopping.
        case running
        /// An intake that requeues unfinished deliveries at `deadline`. To: ended.
        case stopping(deadline: MonotonicTime)
        /// An intake that requeues each new delivery.
        case ended
    }

    let consumer: Consumer
    let publisher: Publisher
    let store: CommandStore
    private let metrics: RegistrationMetrics
    private let log: Log
    private let reader: CommandReader
    private let confirmed: ConfirmedPublisher
    private let events: EventRelay
    private let replies: ReplyQueue
    private let worker: String
    private var ledger = DeliveryLedger()
    private let reviewTimer: DeadlineTimer
    private var lifecycle = Lifecycle.running
    /// The calls of `finish` that wait until no work is in progress.
    private let finished = ContinuationList<Void>()

    init(
        consumer: Consumer, publisher: Publisher, reader: CommandReader, store: CommandStore,
        confirmed: ConfirmedPublisher, events: EventRelay, replies: ReplyQueue, metrics: RegistrationMetrics, log: Log,
        worker: String
    ) {
        (self.consumer, self.publisher, self.reader, self.store) = (consumer, publisher, reader, store)
        (self.confirmed, self.events, self.replies) = (confirmed, events, replies)
        (self.metrics, self.log, self.worker) = (metrics, log, worker)
        reviewTimer = DeadlineTimer(on: publisher.loop)
    }

    private var loop: EventLoop { publisher.loop }
    private var identity: WorkerIdentity { WorkerIdentity(name: worker, user: publisher.userID) }

    func start() {
        replies.start { [weak self] in self?.updateDemand() }
        confirmed.start { [weak self] in self?.updateDemand() }
        updateDemand()
        store.start(for: self)
    }

    /// The failure that prevents publishing, as a sentence for operators; nil without a failure.
    var publishFailure: String? {
        confirmed.failure.map { "cannot publish an event or a dead letter: \($0)" }
            ?? replies.failure.map { "cannot publish the reply to a command: \($0)" }
    }

    /// Handles a change of `store.acceptsWork`.
    func storeChanged() {
        updateDemand()
        if store.acceptsWork { events.retryDeletions() } else { requeueUnstorable() }
    }

    private func updateDemand() {
        guard case .running = lifecycle else { return }
        if store.acceptsWork && publishFailure == nil { consumer.resume() } else { consumer.pause() }
    }

    func delivered(_ message: consuming IncomingMessage) {
        if case .ended = lifecycle { return consumer.requeue(message.tag) }
        let delivery = CommandDelivery(message, loop.now)
        ledger.append(delivery)
        scheduleReview()
        let reading = reader.read(delivery.message, now: loop.now.unixMilliseconds)
        let isWorkers = isWorkers(delivery.message)
        switch reading.command {
        case .success(let received):
            store.append(
                WaitingCommand(
                    received: received, delivery: delivery, destination: reading.destination, isWorkers: isWorkers))
            requeueUnstorable()
        case .failure(let violation):
            metrics.command(nil, RegistrationMetrics.invalid, isWorkers: isWorkers)
            refuse(delivery, because: violation, reading.destination)
        }
    }

    private func isWorkers(_ message: borrowing IncomingMessage) -> Bool {
        identity.published(message.properties) && message.properties.header(MessageHeaderName.worker) != nil
    }

    /// Handles the loss of the channel. The broker redelivers the unacknowledged commands.
    func channelLost() {
        for delivery in ledger.removeAll() { requeue(delivery) }
        removeSettled()
    }

    /// Requeues deliveries that are unacknowledged for too long, then records the age of the oldest remaining command.
    private func review() {
        let now = loop.now
        let limit = Duration.seconds(Self.unacknowledgedSecondsMax)
        let first = ledger.oldest()
        while let oldest = ledger.oldest(), oldest.arrivedAt.duration(to: now.monotonic) >= limit { requeue(oldest) }
        let oldest = ledger.oldest()
        if oldest !== first { removeSettled() }
        metrics.oldestCommand(ageMilliseconds: oldest?.ageMilliseconds(now) ?? 0)
        if oldest != nil { scheduleReview() }
    }

    private func scheduleReview() {
        reviewTimer.arm(at: loop.now.monotonic + .seconds(Self.reviewSeconds), for: self) { $0.review() }
    }

    private func requeue(_ delivery: CommandDelivery) {
        if delivery.abandon() { consumer.requeue(delivery.message.tag) }
        finishIfIdle()
    }

    /// Removes the commands and the replies that wait for deliveries that are settled.
    private func removeSettled() {
        store.removeSettled()
        replies.removeSettled()
    }
}

/// Settling.
extension CommandIntake {
    /// Publishes the events and replies of the commands of a committed batch, then acknowledges the commands.
    func stored(_ commands: some Sequence<(WaitingCommand, CommandOutcome)>) {
        var stored: [StoredEvent] = []
        var deliveries: [CommandDelivery] = []
        for (command, outcome) in commands {
            metrics.command(command.received.command.word, outcome.reply.rawValue, isWorkers: command.isWorkers)
            command.delivery.begin()
            reply(
                outcome.reply.body(to: command.received), app: command.received.command.app, command.delivery,
                command.destination)
            if outcome.events.isEmpty {
                end(command.delivery)
            } else {
                stored += outcome.events
                deliveries.append(command.delivery)
            }
        }
        relay(stored) { [self] in
            for delivery in deliveries { end(delivery) }
        }
    }

    /// Publishes events, deletes them from the store, then calls `completed`.
    func relay(_ stored: [StoredEvent], _ completed: @escaping () -> Void) {
        events.relay(stored) { [self] in
            completed()
            finishIfIdle()
        }
    }

    /// Publishes and deletes the events of a change of an operator. While publishing fails, and beyond
    /// `EventRelay.operatorEventsMax`, the events remain in the store, and maintenance publishes them.
    func relayIfPossible(_ stored: [StoredEvent]) {
        events.relayIfPossible(stored) { [self] in finishIfIdle() }
    }

    /// Deletes the published events whose deletion failed.
    func retryDeletions() { events.retryDeletions() }

    /// Handles a command whose values the store refuses.
    func refuse(_ command: WaitingCommand, because fault: StoreFault) {
        metrics.command(
            command.received.command.word, RegistrationMetrics.invalid, isWorkers: command.isWorkers)
        let violation = CommandViolation(
            .limit, fault.errorClass ?? fault.code.rawValue, "The store refuses a value of the command.")
        refuse(command.delivery, because: violation, command.destination)
    }

    /// Publishes the dead letter of a command, then its reply. The broker itself dead-letters a command whose dead
    /// letter cannot be published, or whose oversized body was dropped.
    private func refuse(
        _ delivery: CommandDelivery, because violation: CommandViolation, _ destination: ReplyDestination
    ) {
        // The redelivery of a requeued command is refused instead.
        guard !delivery.isSettled else { return }
        log.warning(
            .registrationDeadLettered,
            [.deadLetter: .string("\(violation.violationClass.rawValue).\(violation.code)")])
        delivery.begin()
        func finish(isPublished: Bool) {
            if !isPublished { delivery.mustReject = true }
            reply(RegistrationReply.body(violation), app: nil, delivery, destination)
            end(delivery)
        }
        guard !delivery.message.isOversized else { return finish(isPublished: false) }
        confirmed.publish(
            CommandDeadLetter.make(
                of: delivery.message, because: violation, exchange: reader.names.deadExchange, worker: identity,
                loop.now), finish)
    }

    /// Publishes a reply if the command asks for one. The delivery remains open until the publish is complete.
    private func reply(
        _ body: @autoclosure () -> [UInt8], app: String?, _ delivery: CommandDelivery, _ destination: ReplyDestination
    ) {
        // The redelivery of a requeued command receives the reply instead.
        guard let address = destination.address, !delivery.isSettled else { return }
        delivery.begin()
        let reply = ReplyDelivery(
            RegistrationMessages.reply(body(), to: destination.properties), to: address,
            orElse: (reader.names.resultsExchange, RoutingKey.registration(app: app)))
        replies.publish(reply, for: delivery) { [self] in end(delivery) }
    }

    /// Ends one operation of a delivery. After the last one, acknowledges or rejects the delivery.
    private func end(_ delivery: CommandDelivery) {
        guard delivery.end() else { return }
        if delivery.mustReject {
            consumer.reject(delivery.message.tag, requeue: false)
        } else {
            consumer.acknowledge(delivery.message.tag)
        }
        finishIfIdle()
    }
}

/// Closing.
extension CommandIntake {
    /// Begins to stop. `finish` requeues unfinished commands at the earliest deadline of all calls before it.
    func stop(by deadline: MonotonicTime) {
        switch lifecycle {
        case .running: lifecycle = .stopping(deadline: deadline)
        case .stopping(let earlier): lifecycle = .stopping(deadline: min(earlier, deadline))
        case .ended: break
        }
        requeueUnstorable()
    }

    /// Requeues the commands that wait for a store that accepts no changes, while the intake stops.
    func requeueUnstorable() {
        guard case .stopping = lifecycle, !store.acceptsWork else { return }
        for command in store.removeWaiting() { requeue(command.delivery) }
    }

    /// Waits until no work is in progress, or until the deadline of `stop`. Then requeues the unfinished deliveries.
    /// Does nothing unless the intake is stopping.
    func finish() async {
        guard case .stopping(let deadline) = lifecycle else { return }
        let now = loop.now.monotonic
        if !isIdle, now < deadline {
            await finished.wait(on: loop, for: now.duration(to: deadline), timeoutValue: {})
        }
        giveUp()
    }

    private var isIdle: Bool { ledger.oldest() == nil && store.isIdle && events.isIdle }

    private func finishIfIdle() {
        guard case .stopping = lifecycle, isIdle else { return }
        finished.resume(returning: ())
    }

    /// Requeues the unfinished deliveries and ends all publishes. Events that are not yet deleted remain in the store,
    /// and a later maintenance round publishes them.
    private func giveUp() {
        lifecycle = .ended
        for delivery in ledger.removeAll() { requeue(delivery) }
        reviewTimer.cancel()
        metrics.oldestCommand(ageMilliseconds: 0)
        confirmed.end()
        replies.end()
        store.end()
        finished.resume(returning: ())
    }
}
