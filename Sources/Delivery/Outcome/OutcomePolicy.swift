public import APNS
import APNSProtocol

/// What follows from what became of a push: a pure table.
public struct OutcomePolicy: Sendable {
    public enum Verdict: Sendable, Hashable {
        /// It has ended: tell so.
        case conclude(Conclusion)
        /// Try again later.
        case retry(Retry)
        /// It was not sent, and the queue is the best place to wait: no try is counted.
        case requeue
        /// Our key or certificate is wrong: put it back, stop consuming and tell somebody.
        case fault(String)
    }

    public var schedule: RetrySchedule
    /// Whether a push with an unknown outcome is sent again, with the same id.
    public var resendsUnknown: Bool

    public init(schedule: RetrySchedule = RetrySchedule(), resendsUnknown: Bool = true) {
        self.schedule = schedule
        self.resendsUnknown = resendsUnknown
    }

    public func verdict(
        on outcome: PushOutcome, of notification: PushNotification, _ attempts: Attempts, unixSeconds: Int64
    ) -> Verdict {
        switch outcome {
        case .answered(let answer): verdict(on: answer, of: notification, attempts, unixSeconds: unixSeconds)
        case .unknown(let error):
            unknown("\(error)", of: notification, attempts, unixSeconds: unixSeconds)
        case .notSent(let error): notSent(error, of: notification, attempts, unixSeconds: unixSeconds)
        }
    }

    private func verdict(
        on answer: PushAnswer, of notification: PushNotification, _ attempts: Attempts, unixSeconds: Int64
    ) -> Verdict {
        let verdict = AnswerVerdict(status: answer.status, reason: answer.reason)
        let told = Conclusion.Answer(answer)
        switch verdict.action {
        case .ok:
            return .conclude(Conclusion(outcome: .accepted, answer: told, tokenState: .valid))
        case .deadLetter:
            return .conclude(rejected(told, nil))
        case .prune:
            return .conclude(pruned(told, notification))
        case .suspect:
            return .conclude(rejected(told, .suspect))
        case .configuration:
            // A wrong topic hurts its own messages alone; a wrong key would refuse every message there is.
            guard verdict.scope == .credential else { return .conclude(rejected(told, nil)) }
            return .fault("APNs answered \(answer.status) \(told.reason ?? "without a reason")")
        case .refresh:
            // The pool has made a new token already, which is all that can help from here.
            return .fault("APNs takes new provider tokens for expired: is this machine's clock right?")
        case .reconnect where answer.reason == .unrelatedKeyIDInToken:
            return .fault("APNs answered UnrelatedKeyIdInToken on a new connection")
        case .reconnect, .backOff:
            return later(told, of: notification, attempts, unixSeconds: unixSeconds)
        }
    }

    private func rejected(_ answer: Conclusion.Answer, _ state: TokenState?) -> Conclusion {
        let reason = answer.reason ?? "\(answer.status)"
        return Conclusion(
            outcome: .rejected, answer: answer, tokenState: state,
            deadLetter: DeadLetterReason("apns", reason, "APNs answered \(answer.status) \(reason)."))
    }

    /// A device that registered after APNs found the token dead has it again (Apple, "Communicating with APNs").
    private func pruned(_ answer: Conclusion.Answer, _ notification: PushNotification) -> Conclusion {
        guard let registered = notification.registeredAtMilliseconds, let dead = answer.timestampMilliseconds,
            registered > dead
        else { return Conclusion(outcome: .rejected, answer: answer, tokenState: .unregistered) }
        return rejected(answer, .valid)
    }

    /// A transient refusal: the try counts.
    private func later(
        _ answer: Conclusion.Answer, of notification: PushNotification, _ attempts: Attempts, unixSeconds: Int64
    ) -> Verdict {
        let made = attempts.before + 1
        let reason = answer.reason ?? "\(answer.status)"
        guard made < schedule.attemptsMax else {
            let sentence = "APNs answered \(answer.status) \(reason) at the last of \(made) tries."
            return .conclude(
                Conclusion(
                    outcome: .rejected, answer: answer, deadLetter: DeadLetterReason("exhausted", reason, sentence)))
        }
        let next = Attempts(
            before: made, possibleDuplicate: attempts.possibleDuplicate, rounds: attempts.rounds)
        return retry(next, reason, of: notification, unixSeconds: unixSeconds)
            ?? .conclude(Conclusion(outcome: .expired, answer: answer))
    }

    private func unknown(
        _ reason: String, of notification: PushNotification, _ attempts: Attempts, unixSeconds: Int64
    ) -> Verdict {
        let made = attempts.before + 1
        let next = Attempts(before: made, possibleDuplicate: true, rounds: attempts.rounds)
        if resendsUnknown, made < schedule.attemptsMax,
            let retry = retry(next, "unknown", of: notification, unixSeconds: unixSeconds)
        {
            return retry
        }
        let sentence = "It is not known whether APNs took it: \(reason). Tries: \(made)."
        return .conclude(
            Conclusion(outcome: .unknown, deadLetter: DeadLetterReason("unknown", "no-answer", sentence)))
    }

    /// Surely not processed by APNs: no try is counted.
    private func notSent(
        _ reason: NotSentReason, of notification: PushNotification, _ attempts: Attempts, unixSeconds: Int64
    ) -> Verdict {
        switch reason {
        case .draining:
            return .requeue
        case .malformed:
            return .conclude(
                Conclusion(
                    invalid: Refusal(.limit, "header", "A value of the message cannot stand in an HTTP header.")))
        case .noConnection, .overloaded, .refused, .noToken:
            return retry(attempts, "not-sent-\(reason)", of: notification, unixSeconds: unixSeconds)
                ?? .conclude(Conclusion(outcome: .expired))
        }
    }

    /// `nil` when it would come back too late.
    private func retry(
        _ next: Attempts, _ reason: String, of notification: PushNotification, unixSeconds: Int64
    ) -> Verdict? {
        let wait = schedule.waits[0]
        let back = unixSeconds + Int64(wait.seconds)
        guard !notification.isExpired(unixSeconds: back) else { return nil }
        var next = next
        next.rounds += 1
        return .retry(Retry(wait: wait, attempts: next, reason: reason))
    }
}

extension Conclusion.Answer {
    init(_ answer: PushAnswer) {
        self.init(
            status: answer.status, reason: answer.reason?.text, timestampMilliseconds: answer.timestampMilliseconds,
            apnsUniqueID: answer.apnsUniqueID)
    }
}
