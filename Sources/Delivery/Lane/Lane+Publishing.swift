import AMQP
import APNS
import EventLoop
import Telemetry

/// How publishing a message ended.
enum RetryResult {
    /// The broker has it.
    case confirmed
    /// No broker would take it, whatever is left out.
    case impossible
    /// The lane ended before.
    case ended
}

extension Lane {
    /// Delay before a publish is repeated, in milliseconds; doubles up to the largest.
    private static let repeatDelayMilliseconds = 100
    private static let repeatDelayMillisecondsMax = 10_000
    /// Repeats after which the lane takes no more messages until this one is out.
    private static let repeatsMax = 3

    /// Name and AMQP user of the lane.
    var identity: WorkerIdentity { WorkerIdentity(name: configuration.worker, user: publisher.userID) }

    func userIDRefused(_ error: AMQPError) {
        log.warning(.userIDRefused, [.error: .string("\(error)")])
    }

    /// For what is published of no verdict.
    func publish(_ message: OutgoingMessage) async -> RetryResult {
        guard !isEnding else { return .ended }
        return await publishRepeatedly(message, after: publishOnce(message))
    }

    /// Publishes again until the broker has confirmed, if it has not the first time; a copy that was confirmed without our
    /// knowing has the same message id.
    ///
    /// When that takes long, because a queue is missing or full or the broker is away, the lane takes no more messages:
    /// it could not publish what becomes of them.
    func publishRepeatedly(_ original: OutgoingMessage, after first: PublishOutcome) async -> RetryResult {
        var message = original
        var outcome = first
        var delay = Self.repeatDelayMilliseconds
        var repeats = 0
        defer { if repeats > Self.repeatsMax { publishingEnded() } }
        while true {
            switch outcome {
            case .confirmed:
                return .confirmed
            case _ where isEnding:
                return .ended
            case .refused(let refusal):
                guard message.leaveOutWhatIsNotNeeded(for: refusal) else {
                    logImpossible(message, refusal)
                    return .impossible
                }
            case .returned, .nacked, .unknown, .notSent:
                if case .unknown = outcome { message.sayThatItMayComeTwice() }
                repeats += 1
                counters.publishRepeats.add()
                if repeats == Self.repeatsMax + 1 { publishingStuck(message, outcome) }
                if repeats > Self.repeatsMax { logStuck(message, outcome) }
                await backlog.pauses.wait(on: loop, for: .milliseconds(delay)) {}
                delay = min(delay * 2, Self.repeatDelayMillisecondsMax)
                if isEnding { return .ended }
            }
            outcome = await publishOnce(message)
        }
    }

    private func publishOnce(_ message: OutgoingMessage) async -> PublishOutcome {
        let begunAt = loop.now.monotonic
        let outcome = await publisher.publish(message)
        note(outcome, begunAt: begunAt)
        return outcome
    }

    func note(_ outcome: PublishOutcome, begunAt: MonotonicTime) {
        labels.published(outcome)
        guard case .confirmed = outcome else { return }
        counters.confirms.observe(begunAt, loop.now.monotonic)
    }

    /// Deliveries that came before the broker was told to send no more wait while nothing could be published of them.
    func waitsToBegin(_ record: DeliveryRecord) -> Bool {
        backlog.count > 0 && !state.isLeaving && holds(record)
    }

    /// To be called when some may wait no more.
    func deliverHeld() {
        for record in backlog.takeHeld() { deliver(record) }
    }

    private func publishingStuck(_ message: OutgoingMessage, _ outcome: PublishOutcome) {
        backlog.begin()
        guard state.publishingFailure == nil else { return }
        state.publishingFailure = failure(message, outcome)
        wantsChanged()
    }

    private func publishingEnded() {
        guard backlog.end() else { return }
        state.publishingFailure = nil
        wantsChanged()
        deliverHeld()
        guard let length = backlog.outage.ends(loop.now.monotonic), !isEnding else { return }
        log.info(.publishResumed, [.durationMilliseconds: .milliseconds(length)])
    }

    private func failure(_ message: OutgoingMessage, _ outcome: PublishOutcome) -> String {
        configuration.completeRemedy("\(message.destination): \(outcome.words)")
    }

    private func logStuck(_ message: OutgoingMessage, _ outcome: PublishOutcome) {
        guard backlog.outage.lasts(loop.now.monotonic) != nil else { return }
        log.warning(
            .publishStuck,
            [
                .error: .string(failure(message, outcome)),
                .publishRepeats: .integer(counters.publishRepeats.value),
            ])
    }

    private func logImpossible(_ message: OutgoingMessage, _ refusal: PublishRefusal) {
        log.error(
            .publishImpossible,
            [.amqpExchange: .string(message.exchange), .error: .string(refusal.rawValue)])
    }
}

extension OutgoingMessage {
    /// The producer's properties and headers; false when there are none to leave out.
    fileprivate mutating func leaveOutWhatIsNotNeeded(for refusal: PublishRefusal) -> Bool {
        guard refusal != .bodyTooLarge else { return false }
        let whole = self
        headers.entries.removeAll { !MessageHeaderName.all.contains($0.name) }
        (replyTo, correlationID, type, appID) = (nil, nil, nil, nil)
        return self != whole
    }

    /// Of a request that is to come back and may be at the broker already: two workers may get one of the two each.
    fileprivate mutating func sayThatItMayComeTwice() {
        guard headers[MessageHeaderName.rounds] != nil,
            let index = headers.entries.firstIndex(where: { $0.name == MessageHeaderName.possibleDuplicate })
        else { return }
        headers.entries[index] = FieldTable.Entry(MessageHeaderName.possibleDuplicate, .boolean(true))
    }

    var destination: String { exchange.isEmpty ? "queue \(routingKey)" : "exchange \(exchange)" }
}

extension PublishOutcome {
    /// For operators.
    var words: String {
        switch self {
        case .confirmed: "confirmed"
        case .returned(_, let text):
            "no queue takes what is published there (\(text)): run: martlet topology apply"
        case .nacked:
            "a queue is full, or refuses it: have it read, or raise its limit (rabbitmqctl list_policies)"
        case .unknown(let error), .notSent(let error): error.advice
        case .refused(let refusal): refusal.rawValue
        }
    }
}
