import APNS
import APNSProtocol

/// What follows for a message from what became of its push: a pure table. What the same says of keys, topics and
/// endpoints is for the `BreakerSet`.
public struct OutcomePolicy: Sendable {
    /// Apple: a request that was answered 5xx may be sent again after 15 minutes ("Handling notification responses from
    /// APNs").
    static let serverErrorWaitSeconds: Int64 = 900

    public var schedule: RetrySchedule
    /// Whether a push with an unknown outcome is sent again, with the same id.
    public var resendsUnknown: Bool

    public init(schedule: RetrySchedule = RetrySchedule(), resendsUnknown: Bool = true) {
        self.schedule = schedule
        self.resendsUnknown = resendsUnknown
    }

    /// One message, with what is behind it, at one moment.
    struct Subject {
        var notification: PushRequest
        let attempts: Attempts
        let nowMilliseconds: Int64

        /// Seconds until it is too late; nil: never.
        fileprivate var latestSeconds: Int64? {
            notification.push.retryDeadline.map { $0 - nowMilliseconds / 1000 }
        }

        /// nil for a broadcast, which goes to no device.
        fileprivate func tokenState(_ state: TokenState) -> TokenState? {
            switch notification.push.target {
            case .device: state
            case .channel, .channels: nil
            }
        }
    }

    func verdict(on outcome: PushOutcome, of subject: Subject) -> Verdict {
        switch outcome {
        case .answered(let answer): verdict(on: answer, of: subject)
        case .unknown(let reason, _): unknown("\(reason)", of: subject)
        case .notSent(let reason): notSent(reason, of: subject)
        }
    }

    /// An open breaker stands in its way, or its app's limits do: no try is counted.
    ///
    /// - Parameter permitAfterMilliseconds: when it is its turn, where that is known.
    func hold(_ cause: HoldReason, of subject: Subject, permitAfterMilliseconds: Int64? = nil) -> Verdict {
        let next = subject.attempts.held(atMilliseconds: subject.nowMilliseconds)
        let heldSince = next.heldSinceMilliseconds ?? subject.nowMilliseconds
        let millisecondsLeft = heldSince + Int64(schedule.holdSecondsMax) * 1000 - subject.nowMilliseconds
        guard millisecondsLeft > 0 else {
            let held = schedule.holdSecondsMax > 0 ? "It was held up for \(schedule.holdSecondsMax) seconds. " : ""
            let reason = DeadLetterReason("held", cause.code, held + cause.sentence)
            return .conclude(FinalOutcome(outcome: .rejected, deadLetter: reason))
        }
        let (latest, round) = (subject.latestSeconds, subject.attempts.holds)
        let time =
            if let permitAfterMilliseconds {
                schedule.turn(afterMilliseconds: permitAfterMilliseconds, latestSeconds: latest)
            } else {
                schedule.hold(round: round, secondsLeft: millisecondsLeft / 1000, latestSeconds: latest)
                    .map { RetrySchedule.Time(delay: $0) }
            }
        guard let time else { return .conclude(FinalOutcome(outcome: .expired)) }
        return .wait(Wait(delay: time.delay, exact: time.exact, attempts: next, reason: Wait.heldCode(cause)))
    }

    private func verdict(on answer: PushAnswer, of subject: Subject) -> Verdict {
        switch AnswerVerdict(answer).action {
        case .ok:
            return accepted(answer, of: subject)
        case .deadLetter, .configuration:
            return .conclude(rejected(answer, nil))
        case .prune:
            return .conclude(pruned(answer, of: subject))
        case .suspect:
            return .conclude(rejected(answer, subject.tokenState(.suspect)))
        case .refresh, .reconnect, .backOff:
            return later(answer, of: subject)
        }
    }

    private func accepted(_ answer: PushAnswer, of subject: Subject) -> Verdict {
        let state = subject.tokenState(.valid)
        if state != nil, answer.isBare { return .accepted }
        return .conclude(FinalOutcome(outcome: .accepted, answer: FinalOutcome.Answer(answer), tokenState: state))
    }

    private func rejected(_ answer: PushAnswer, _ state: TokenState?) -> FinalOutcome {
        FinalOutcome(
            outcome: .rejected, answer: FinalOutcome.Answer(answer), tokenState: state,
            deadLetter: DeadLetterReason("apns", answer.code, answer.explained))
    }

    /// A device that registered after APNs found the token dead has it again (Apple, "Communicating with APNs").
    private func pruned(_ answer: PushAnswer, of subject: Subject) -> FinalOutcome {
        guard let unregistered = subject.tokenState(.unregistered) else { return rejected(answer, nil) }
        guard let registered = subject.notification.registeredAtMilliseconds, let dead = answer.timestampMilliseconds,
            registered > dead
        else {
            return FinalOutcome(outcome: .rejected, answer: FinalOutcome.Answer(answer), tokenState: unregistered)
        }
        return rejected(answer, .valid)
    }

    /// A transient refusal: the try counts.
    private func later(_ answer: PushAnswer, of subject: Subject) -> Verdict {
        let told = FinalOutcome.Answer(answer)
        let next = subject.attempts.tried(atMilliseconds: subject.nowMilliseconds)
        if let end = end(of: next, subject.nowMilliseconds) {
            let sentence = "\(answer.explained) It was \(end)."
            return .conclude(
                FinalOutcome(
                    outcome: .rejected, answer: told, deadLetter: DeadLetterReason("exhausted", answer.code, sentence)))
        }
        let asked = max(answer.retryAfterSeconds ?? 0, answer.isServerError ? Self.serverErrorWaitSeconds : 0)
        return wait(next, leastSeconds: asked, answer.code, of: subject)
            ?? .conclude(FinalOutcome(outcome: .expired, answer: told))
    }

    private func unknown(_ reason: String, of subject: Subject) -> Verdict {
        let next = subject.attempts.tried(atMilliseconds: subject.nowMilliseconds, wasUnknown: true)
        if resendsUnknown, end(of: next, subject.nowMilliseconds) == nil,
            let wait = wait(next, leastSeconds: 0, "unknown", of: subject)
        {
            return wait
        }
        let sentence = "It is not known whether APNs took it: \(reason). Tries: \(next.before)."
        return .conclude(
            FinalOutcome(outcome: .unknown, deadLetter: DeadLetterReason("unknown", "no-answer", sentence)))
    }

    /// Why no further try is made; nil when one is.
    private func end(of next: Attempts, _ nowMilliseconds: Int64) -> String? {
        if next.before >= schedule.attemptsMax { return "the last of \(next.before) tries" }
        let first = next.firstTriedAtMilliseconds ?? nowMilliseconds
        if nowMilliseconds - first >= Int64(schedule.ageSecondsMax) * 1000 {
            return "tried for \(schedule.ageSecondsMax) seconds"
        }
        return nil
    }

    /// Surely not processed by APNs: no try is counted.
    private func notSent(_ reason: NotSentReason, of subject: Subject) -> Verdict {
        switch reason {
        case .draining:
            return .requeue
        case .expired:
            return .conclude(FinalOutcome(outcome: .expired))
        case .malformed:
            return .conclude(
                FinalOutcome(
                    invalid: RequestViolation(
                        .limit, "header", "A value of the message cannot stand in an HTTP header.")))
        case .noConnection, .notWritten:
            return hold(HoldReason("no-connection", "No connection to APNs could take it in time."), of: subject)
        case .overloaded:
            return hold(HoldReason("overloaded", "Too many pushes waited for a connection."), of: subject)
        case .refused:
            return hold(HoldReason("refused-stream", "APNs refused its stream several times."), of: subject)
        case .noToken:
            return hold(HoldReason("token", "No provider token could be made."), of: subject)
        case .certificateRefused(let refusal):
            return hold(HoldReason(refusal), of: subject)
        }
    }

    /// nil when it would come back too late.
    private func wait(
        _ next: Attempts, leastSeconds: Int64, _ reason: String, of subject: Subject
    ) -> Verdict? {
        let delay = schedule.wait(
            afterTries: next.before, leastSeconds: leastSeconds, latestSeconds: subject.latestSeconds)
        return delay.map { .wait(Wait(delay: $0, attempts: next, reason: reason)) }
    }
}

extension PushAnswer {
    /// Of APNs itself, not of something between.
    fileprivate var isServerError: Bool { status >= 500 && isFromAPNS }

    /// Whether it says 200, and nothing else that a result would repeat.
    fileprivate var isBare: Bool {
        status == 200 && reason == nil && timestampMilliseconds == nil && apnsUniqueID == nil && apnsRequestID == nil
    }
}

extension FinalOutcome.Answer {
    init(_ answer: PushAnswer) {
        self.init(
            status: answer.status, reason: answer.reason?.text, timestampMilliseconds: answer.timestampMilliseconds,
            apnsUniqueID: answer.apnsUniqueID, apnsRequestID: answer.apnsRequestID)
    }
}
