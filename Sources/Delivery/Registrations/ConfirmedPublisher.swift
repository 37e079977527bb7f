import AMQP
import EventLoop
import Telemetry

/// A publisher that repeats each message until the broker confirms it, unless no broker can accept the message.
///
/// Loop-bound.
final class ConfirmedPublisher {
    private let publisher: Publisher
    private let log: Log
    private let completeRemedy: @Sendable (String) -> String
    private let repeats: Counter
    private var outage = Outage()
    /// The messages that exceeded the limit of repeats.
    private var stuck: Set<ObjectIdentifier> = []
    private var isEnded = false
    /// The reason why a message is stuck; nil if no message is stuck.
    private(set) var failure: String?
    private var failureChanged: () -> Void = {}

    init(
        _ publisher: Publisher, repeats: Counter, log: Log,
        completeRemedy: @escaping @Sendable (String) -> String
    ) {
        (self.publisher, self.repeats, self.log, self.completeRemedy) = (publisher, repeats, log, completeRemedy)
    }

    /// Registers an observer of `failure`.
    ///
    /// - Parameter failureChanged: Called when `failure` becomes nil or is no longer nil.
    func start(failureChanged: @escaping () -> Void) { self.failureChanged = failureChanged }

    /// Publishes a message.
    ///
    /// - Parameter completed: Called once, with true after the confirm, or with false if no broker can accept the
    ///   message. Not called after `end`.
    func publish(_ message: OutgoingMessage, _ completed: @escaping (_ isPublished: Bool) -> Void) {
        send(RepeatedPublish(message, by: self, completed))
    }

    /// Ends all repeats.
    func end() { isEnded = true }

    private func send(_ publish: RepeatedPublish) {
        guard !isEnded else { return }
        publisher.publish(publish.retry.message, publish)
    }

    fileprivate func published(_ outcome: PublishOutcome, _ publish: RepeatedPublish) {
        guard !isEnded else { return }
        switch outcome {
        case .confirmed: finish(publish, isPublished: true)
        case .refused(let refusal):
            if publish.retry.removeOptionalParts(for: refusal) { return send(publish) }
            log.error(
                .publishImpossible,
                [.amqpExchange: .string(publish.retry.message.exchange), .error: .string(refusal.rawValue)])
            finish(publish, isPublished: false)
        case .returned, .nacked, .unknown, .notSent:
            let delay = publish.retry.next(after: outcome)
            repeats.add()
            if publish.retry.isStuck { stick(publish, outcome) }
            publisher.loop.schedule(after: delay) { self.send(publish) }
        }
    }

    private func finish(_ publish: RepeatedPublish, isPublished: Bool) {
        if stuck.remove(ObjectIdentifier(publish)) != nil, stuck.isEmpty {
            failure = nil
            if let length = outage.ends(publisher.loop.now.monotonic) {
                log.info(.publishResumed, [.durationMilliseconds: .milliseconds(length)])
            }
            failureChanged()
        }
        publish.completed(isPublished)
    }

    private func stick(_ publish: RepeatedPublish, _ outcome: PublishOutcome) {
        let reason = completeRemedy("\(publish.retry.message.destination): \(outcome.advice)")
        let isFirst = failure == nil
        failure = reason
        stuck.insert(ObjectIdentifier(publish))
        if outage.lasts(publisher.loop.now.monotonic) != nil {
            log.warning(.publishStuck, [.error: .string(reason), .publishRepeats: .integer(repeats.value)])
        }
        if isFirst { failureChanged() }
    }
}

/// One message and its repeated publishes.
private final class RepeatedPublish: PublishReceiver {
    let retry: PublishRetry
    let completed: (_ isPublished: Bool) -> Void
    private let publisher: ConfirmedPublisher

    init(_ message: OutgoingMessage, by publisher: ConfirmedPublisher, _ completed: @escaping (Bool) -> Void) {
        (retry, self.publisher, self.completed) = (PublishRetry(message), publisher, completed)
    }

    override func published(_ outcome: PublishOutcome) { publisher.published(outcome, self) }
}
