import AMQP
import BrokerTopology
import JSON

/// A factory for the messages of a settlement. It builds each message when the message is next in the plan.
struct MessageFactory {
    let names: TopologyNames
    let apps: AppDirectory
    private let worker: String
    private let publisher: Publisher
    /// The constant members of results, by the index of the consumer.
    private let laneMembers: [[UInt8]]
    /// The writer of the journal, which records messages when they are first published; nil if the lane writes none.
    let journal: JournalCollector?
    /// The limits of requests; nil if the lane publishes no commands about registrations.
    private let registrationLimits: JSONLimits?

    init(_ context: LaneContext, publisher: Publisher) {
        let configuration = context.configuration
        journal = JournalCollector(context)
        (names, apps, worker) = (configuration.names, configuration.apps, configuration.worker)
        let shortName = WorkerIdentity(name: configuration.worker).shortName
        laneMembers = configuration.consumers.map { ResultMessage.laneMembers(queue: $0.queue, worker: shortName) }
        registrationLimits =
            configuration.hasRegistrations
            ? JSONLimits(
                bytesMax: configuration.consumer.messageBytesMax, depthMax: configuration.messageDepthMax) : nil
        self.publisher = publisher
    }

    /// Returns the first message of the plan, which must not be empty. The same settlement yields the same message
    /// while the publisher's user ID stays the same.
    func next(of settlement: borrowing Settlement, _ record: DeliveryRecord) -> OutgoingMessage {
        switch (settlement.plan.first, settlement.verdict) {
        case (.result, .conclude(let finalOutcome)): result(finalOutcome, record)
        case (.deadLetter, .conclude(let finalOutcome)): deadLetter(finalOutcome, record)
        case (.registration, .conclude): registration(record)
        case (.wait, .wait(let wait)): self.wait(wait, record)
        case (.quarantine, .quarantine(let waitID)): quarantine(waitID, record)
        case (.report, .report), (.report, .conclude): report(record)
        case (.again, .again(let attempts)): again(attempts, record)
        default: preconditionFailure("plan does not match its verdict")
        }
    }

    /// Whether a refusal of a device token leads to a command.
    var hasRegistrations: Bool { registrationLimits != nil }

    /// Returns the command about a device token that APNs refused; nil without such a command. Also nil for a
    /// duplicate, and if device registrations are not configured.
    func refusal(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord) -> RefusalCommand? {
        // The first delivery of a duplicate has published the command.
        guard let registrationLimits, !record.isDuplicate, finalOutcome.tokenState?.isRefused == true else {
            return nil
        }
        return RefusalCommand(finalOutcome, record, app: record.bundleID(apps)) {
            record.fanoutOrigin.map { TokenParts($0) } ?? TokenParts(of: record.delivery, registrationLimits)
        }
    }

    private func registration(_ record: DeliveryRecord) -> OutgoingMessage {
        guard let refusal = record.refusal else { preconditionFailure("plan does not match its verdict") }
        return refusal.message(exchange: names.registrationsExchange, worker: identity)
    }

    private func result(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord) -> OutgoingMessage {
        ResultMessage.make(
            for: record, finalOutcome, apps, finishedAtMilliseconds: record.endedAtMilliseconds,
            exchange: names.resultsExchange, laneMembers: laneMembers[record.source],
            // Most requests end in their first round.
            history: record.attempts.rounds > 0 ? record.history(trusting: identity) : nil)
    }

    private func deadLetter(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord) -> OutgoingMessage {
        guard let reason = finalOutcome.deadLetter else { preconditionFailure("plan does not match its verdict") }
        return DeadLetterMessage.make(
            for: record, finalOutcome, because: reason, apps, failedAtMilliseconds: record.endedAtMilliseconds,
            exchange: names.deadExchange, worker: identity)
    }

    private func wait(_ wait: Wait, _ record: DeliveryRecord) -> OutgoingMessage {
        WaitMessage.make(
            for: record, wait, sibling: Self.sibling(of: wait), failedAtMilliseconds: record.endedAtMilliseconds,
            names: names, worker: identity)
    }

    /// Returns the index of the sibling queue of a wait. The delays of sibling queues differ a little, so that a burst
    /// does not return as a burst.
    static func sibling(of wait: Wait) -> Int {
        wait.exact?.sibling ?? Int(wait.attempts.waitID % UInt32(WaitDelay.siblings))
    }

    private func quarantine(_ waitID: UInt32, _ record: DeliveryRecord) -> OutgoingMessage {
        QuarantineMessage.make(
            for: record, waitID: waitID, movedAtMilliseconds: record.endedAtMilliseconds, names: names,
            worker: identity)
    }

    private func report(_ record: DeliveryRecord) -> OutgoingMessage {
        FanoutReport.make(
            for: record, record.childCounts, apps, finishedAtMilliseconds: record.endedAtMilliseconds,
            exchange: names.resultsExchange)
    }

    private func again(_ attempts: Attempts, _ record: DeliveryRecord) -> OutgoingMessage {
        guard let expander = record.pipeline.expander else {
            preconditionFailure("request to users in a lane without registrations")
        }
        return AgainMessage.make(
            for: record, attempts, to: expander.parentPlace(of: record), worker: identity)
    }

    var identity: WorkerIdentity { WorkerIdentity(name: worker, user: publisher.userID) }
}
