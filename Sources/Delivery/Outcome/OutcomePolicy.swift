import APNS
import APNSProtocol

/// The policy that decides the verdict on a request from the outcome of its push. Pure.
///
/// `BreakerSet` evaluates the same outcome for credentials, topics and endpoints.
public struct OutcomePolicy: Sendable {
    /// The minimum wait after a 5xx answer of APNs, unless a deadline or the longest delay requires a shorter wait.
    /// Apple permits a repeat after 15 minutes ("Handling notification responses from APNs").
    static let serverErrorWaitSeconds: Int64 = 900

    public var schedule: RetrySchedule
    /// Whether a push with an unknown outcome is repeated, with the same id.
    public var resendsUnknown: Bool

    public init(schedule: RetrySchedule = RetrySchedule(), resendsUnknown: Bool = true) {
        self.schedule = schedule
        self.resendsUnknown = resendsUnknown
    }

    /// A request with its history at one moment.
    struct Subject {
        var request: PushRequest
        let attempts: Attempts
        let nowMilliseconds: Int64

        /// The seconds until the request may no longer be retried; nil if it has no deadline.
        fileprivate var latestSeconds: Int64? {
            request.push.retryDeadline.map { $0 - nowMilliseconds / 1000 }
        }

        /// Returns the state for a device, and nil for a broadcast, which has no device token.
        fileprivate func tokenState(_ state: TokenState) -> TokenState? {
            switch request.push.target {
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

    /// Returns the verdict on a request that must be held. Examples of causes are an open breaker and the limits of the
    /// request's app. No attempt is counted.
    ///
    /// - Parameter permitAfterMilliseconds: The time until the request's permit; nil if unknown.
    func hold(_ cause: HoldReason, of subject: Subject, permitAfterMilliseconds: Int64? = nil) -> Verdict {
        hold(
            cause, subject.attempts, latestSeconds: subject.latestSeconds, nowMilliseconds: subject.nowMilliseconds,
            permitAfterMilliseconds: permitAfterMilliseconds)
    }

    /// Returns the verdict on a request that must be held.
    ///
    /// - Parameters:
    ///   - latest: The seconds until the request may no longer be retried; nil if it has no deadline.
    ///   - permitAfterMilliseconds: The time until the request's permit; nil if unknown.
    func hold(
        _ cause: HoldReason, _ attempts: Attempts, latestSeconds latest: Int64?, nowMilliseconds: Int64,
        permitAfterMilliseconds: Int64? = nil
    ) -> Verdict {
        let next = attempts.held(atMilliseconds: nowMilliseconds)
        let heldSince = next.heldSinceMilliseconds ?? nowMilliseconds
        let millisecondsLeft = heldSince + Int64(schedule.holdSecondsMax) * 1000 - nowMilliseconds
        guard millisecondsLeft > 0 else {
            let held = schedule.holdSecondsMax > 0 ? "Held for \(schedule.holdSecondsMax) seconds. " : ""
            let reason = DeadLetterReason("held", cause.code, held + cause.sentence)
            return .conclude(FinalOutcome(outcome: .rejected, deadLetter: reason))
        }
        let time =
            if let permitAfterMilliseconds {
                schedule.permitWait(afterMilliseconds: permitAfterMilliseconds, latestSeconds: latest)
            } else {
                schedule.hold(round: attempts.holds, secondsLeft: millisecondsLeft / 1000, latestSeconds: latest)
                    .map { RetrySchedule.PermitWait(delay: $0) }
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
            return retry(answer, of: subject)
        }
    }

    private func accepted(_ answer: PushAnswer, of subject: Subject) -> Verdict {
        let state = subject.tokenState(.valid)
        if state != nil, answer.isBare { return .accepted }
        return .conclude(FinalOutcome(outcome: .accepted, answer: FinalOutcome.Answer(answer), tokenState: state))
    }

    /// Returns the outcome of a request that APNs refused permanently.
    ///
    /// - Parameter sentence: The sentence of the dead letter; nil to use `answer.explained`.
    private func rejected(_ answer: PushAnswer, _ state: TokenState?, sentence: String? = nil) -> FinalOutcome {
        FinalOutcome(
            outcome: .rejected, answer: FinalOutcome.Answer(answer), tokenState: state,
            deadLetter: DeadLetterReason("apns", answer.code, sentence ?? answer.explained))
    }

    /// Returns the outcome for a token that APNs reports as unregistered or expired. If the device registered the token
    /// after the timestamp of the answer, the token is valid again (Apple, "Communicating with APNs").
    private func pruned(_ answer: PushAnswer, of subject: Subject) -> FinalOutcome {
        guard let unregistered = subject.tokenState(.unregistered) else { return rejected(answer, nil) }
        guard let registered = subject.request.registeredAtMilliseconds,
            let unregisteredAt = answer.timestampMilliseconds, registered > unregisteredAt
        else {
            return FinalOutcome(outcome: .rejected, answer: FinalOutcome.Answer(answer), tokenState: unregistered)
        }
        let sentence = "\(answer.summary) The device registered the token after APNs' timestamp: keep the token."
        return rejected(answer, .valid, sentence: sentence)
    }

    /// Returns the verdict on a transient refusal, which counts as an attempt.
    private func retry(_ answer: PushAnswer, of subject: Subject) -> Verdict {
        let finalAnswer = FinalOutcome.Answer(answer)
        let next = subject.attempts.tried(atMilliseconds: subject.nowMilliseconds)
        if let end = end(of: next, subject.nowMilliseconds) {
            let sentence = "\(answer.explained) \(end)"
            return .conclude(
                FinalOutcome(
                    outcome: .rejected, answer: finalAnswer,
                    deadLetter: DeadLetterReason("exhausted", answer.code, sentence)))
        }
        let leastSeconds = max(answer.retryAfterSeconds ?? 0, answer.isServerError ? Self.serverErrorWaitSeconds : 0)
        return wait(next, leastSeconds: leastSeconds, answer.code, of: subject)
            ?? .conclude(FinalOutcome(outcome: .expired, answer: finalAnswer))
    }

    private func unknown(_ reason: String, of subject: Subject) -> Verdict {
        let next = subject.attempts.tried(atMilliseconds: subject.nowMilliseconds, wasUnknown: true)
        if resendsUnknown, end(of: next, subject.nowMilliseconds) == nil,
            let wait = wait(next, leastSeconds: 0, "unknown", of: subject)
        {
            return wait
        }
        let sentence = "APNs may have processed the push: \(reason). Attempts: \(next.before)."
        return .conclude(
            FinalOutcome(outcome: .unknown, deadLetter: DeadLetterReason("unknown", "no-answer", sentence)))
    }

    /// Returns the limit that permits no further attempt, as a sentence; nil if a further attempt is permitted.
    private func end(of next: Attempts, _ nowMilliseconds: Int64) -> String? {
        if next.before >= schedule.attemptsMax { return "Attempt \(next.before) was the last." }
        let first = next.firstTriedAtMilliseconds ?? nowMilliseconds
        if nowMilliseconds - first >= Int64(schedule.ageSecondsMax) * 1000 {
            return "The request was retried for \(schedule.ageSecondsMax) seconds."
        }
        return nil
    }

    /// Returns the verdict on a push that APNs certainly did not process. No attempt is counted.
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
                        .limit, "header",
                        "A value of the request is not allowed in an HTTP header: correct app, channel_id or "
                            + "collapse_id.")))
        case .noConnection, .notWritten:
            return hold(HoldReason("no-connection", "No connection to APNs accepted the push in time."), of: subject)
        case .overloaded:
            return hold(HoldReason("overloaded", "Too many pushes waited for a connection."), of: subject)
        case .refused:
            return hold(
                HoldReason(
                    "refused-stream", "Several times, APNs refused the stream of the push, or the connection ended."),
                of: subject)
        case .noToken:
            return hold(
                HoldReason("token", "Cannot sign a provider token: check the clock of the worker's machine."),
                of: subject)
        case .certificateRefused(let refusal):
            return hold(HoldReason(refusal), of: subject)
        }
    }

    /// Returns a wait before the next attempt; nil if the request would return after its deadline.
    private func wait(
        _ next: Attempts, leastSeconds: Int64, _ reason: String, of subject: Subject
    ) -> Verdict? {
        let delay = schedule.wait(
            afterAttempts: next.before, leastSeconds: leastSeconds, latestSeconds: subject.latestSeconds)
        return delay.map { .wait(Wait(delay: $0, attempts: next, reason: reason)) }
    }
}

extension PushAnswer {
    /// Whether APNs itself, and not a server on the path, answered 5xx.
    fileprivate var isServerError: Bool { status >= 500 && isFromAPNS }

    /// Whether the answer is 200 without any other value that a result contains.
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
