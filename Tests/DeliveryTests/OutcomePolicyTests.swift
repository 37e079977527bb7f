import APNS
import APNSProtocol
import BrokerTopology
import Crypto
import Testing

@testable import Delivery

@Suite struct OutcomePolicyTests {
    private let policy = OutcomePolicy(
        schedule: RetrySchedule(attemptsMax: 3, ageSecondsMax: 86_400, holdSecondsMax: 3600, waits: WaitDelay.defaults))
    private static let now: Int64 = 1_800_000_000

    private func subject(
        expiration: Int64? = nil, registeredAt: Int64? = nil, _ attempts: Attempts = Attempts()
    ) -> OutcomePolicy.Subject {
        let push = APNSRequest.device(
            token: ArraySlice("aabb".utf8), topic: Array("com.example.app".utf8), pushType: .alert, priority: nil,
            expiration: expiration, collapseID: nil, id: UUIDValue(high: 1, low: 2), payload: Array("{}".utf8),
            payloadRange: 0..<2)
        return OutcomePolicy.Subject(
            request: PushRequest(
                push: push, app: 0, route: Route(pool: 0, number: 0), registeredAtMilliseconds: registeredAt),
            attempts: attempts, nowMilliseconds: Self.now * 1000)
    }

    private func verdict(
        _ status: Int, _ reason: Reason? = nil, timestamp: Int64? = nil, retryAfter: Int64? = nil,
        isFromAPNS: Bool = true, before: Int = 0, expiration: Int64? = nil, registeredAt: Int64? = nil
    ) -> Verdict {
        var answer = PushAnswer(
            status: status, reason: reason, timestampMilliseconds: timestamp, retryAfterSeconds: retryAfter)
        answer.isFromAPNS = isFromAPNS
        return policy.verdict(
            on: .answered(answer),
            of: subject(expiration: expiration, registeredAt: registeredAt, Attempts(before: before)))
    }

    private func wait(_ verdict: Verdict) -> Wait? {
        if case .wait(let wait) = verdict { wait } else { nil }
    }

    private func finalOutcome(_ verdict: Verdict) -> FinalOutcome? {
        if case .conclude(let finalOutcome) = verdict { finalOutcome } else { nil }
    }

    @Test func anAcceptedPushIsConcluded() {
        let concluded = finalOutcome(verdict(200))
        #expect(concluded?.outcome == .accepted)
        #expect(concluded?.tokenState == .valid)
        #expect(concluded?.deadLetter == nil)
    }

    // The sandbox returns `apns-unique-id`. Answers to broadcasts have `apns-request-id`.
    @Test(arguments: [("unique", nil), (nil, "request")] as [(String?, String?)])
    func idsOfAnAcceptedPushAreReported(unique: String?, request: String?) {
        let answer = PushAnswer(status: 200, apnsUniqueID: unique, apnsRequestID: request)
        let concluded = finalOutcome(policy.verdict(on: .answered(answer), of: subject()))
        #expect(concluded?.outcome == .accepted && concluded?.tokenState == .valid)
        #expect(concluded?.answer == FinalOutcome.Answer(status: 200, apnsUniqueID: unique, apnsRequestID: request))
    }

    @Test(arguments: [
        PushAnswer(status: 200, timestampMilliseconds: 7), PushAnswer(status: 200, reason: .unknown("Stored")),
    ])
    func everyValueOfAnAcceptingAnswerIsReported(answer: PushAnswer) {
        let concluded = finalOutcome(policy.verdict(on: .answered(answer), of: subject()))
        #expect(concluded?.outcome == .accepted)
        #expect(
            concluded?.answer
                == FinalOutcome.Answer(
                    status: 200, reason: answer.reason?.text, timestampMilliseconds: answer.timestampMilliseconds))
    }

    // A broadcast has no device, regardless of the answer.
    @Test(arguments: [(200, Reason?.none), (410, .unregistered), (400, .badDeviceToken)])
    func aBroadcastHasNoTokenState(status: Int, reason: Reason?) {
        var subject = subject()
        subject.request.push = .broadcast(
            channel: ArraySlice("YWJj".utf8), bundleID: Array("com.example.app".utf8), id: UUIDValue(high: 1, low: 2),
            payload: Array("{}".utf8))
        let answer = PushAnswer(status: status, reason: reason)
        let concluded = finalOutcome(policy.verdict(on: .answered(answer), of: subject))
        #expect(concluded != nil && concluded?.tokenState == nil)
        #expect((concluded?.deadLetter == nil) == (status == 200))
    }

    @Test func anUnregisteredDeviceIsNoDeadLetter() {
        let concluded = finalOutcome(verdict(410, .unregistered, timestamp: 1_700_000_000_123))
        #expect(concluded?.outcome == .rejected)
        #expect(concluded?.tokenState == .unregistered)
        #expect(concluded?.answer?.timestampMilliseconds == 1_700_000_000_123)
        #expect(concluded?.deadLetter == nil)
    }

    /// Row 97 of the conformance table. Without a time, no evidence shows that the device has registered since.
    @Test(arguments: [nil, Self.now * 1000] as [Int64?]) func a410WithoutATimeIsTrusted(registeredAt: Int64?) {
        for reason in [Reason.unregistered, .expiredToken, nil] {
            let concluded = finalOutcome(verdict(410, reason, registeredAt: registeredAt))
            #expect(
                concluded?.outcome == .rejected && concluded?.tokenState == .unregistered
                    && concluded?.deadLetter == nil)
            #expect(concluded?.answer?.timestampMilliseconds == nil)
        }
    }

    @Test func aDeviceThatRegisteredLaterThanThe410KeepsItsToken() {
        let concluded = finalOutcome(verdict(410, .unregistered, timestamp: 1000, registeredAt: 1001))
        #expect(concluded?.tokenState == .valid)
        #expect(concluded?.deadLetter?.code == "Unregistered")
        #expect(
            concluded?.deadLetter?.sentence == "APNs answered 410 Unregistered. "
                + "The device registered the token after APNs' timestamp: keep the token.")
        #expect(
            finalOutcome(verdict(410, .unregistered, timestamp: 1000, registeredAt: 1000))?.tokenState == .unregistered)
    }

    @Test func aDoubtfulTokenIsSuspectAndDeadLettered() {
        let concluded = finalOutcome(verdict(400, .badDeviceToken))
        #expect(concluded?.tokenState == .suspect)
        #expect(concluded?.deadLetter?.deadClass == "apns")
        #expect(concluded?.deadLetter?.code == "BadDeviceToken")
    }

    @Test(arguments: [(429, Reason.tooManyRequests, 5), (500, .internalServerError, 900), (503, .shutdown, 900)])
    func aTransientRefusalIsRetriedAndCounted(status: Int, reason: Reason, seconds: Int) {
        let wait = wait(verdict(status, reason))
        #expect(wait?.delay == WaitDelay(seconds: seconds))
        #expect(wait?.reason == reason.text)
        #expect(wait?.attempts.before == 1 && wait?.attempts.rounds == 1)
        #expect(wait?.attempts.firstTriedAtMilliseconds == Self.now * 1000)
        let last = finalOutcome(verdict(status, reason, before: 2))
        #expect(last?.outcome == .rejected)
        #expect(last?.deadLetter?.deadClass == "exhausted")
        #expect(last?.deadLetter?.code == reason.text)
    }

    @Test(arguments: [(0, 1), (1, 1), (2, 2)]) func oneAttemptIsTheMinimum(attemptsMax: Int, tries: Int) {
        let policy = OutcomePolicy(schedule: RetrySchedule(attemptsMax: attemptsMax))
        let throttled = PushOutcome.answered(PushAnswer(status: 429, reason: .tooManyRequests))
        let last = (0..<3).first { wait(policy.verdict(on: throttled, of: subject(Attempts(before: $0)))) == nil }
        #expect(last.map { $0 + 1 } == tries)
    }

    @Test func waitsGrowAndRespectRetryAfter() {
        let policy = OutcomePolicy(schedule: RetrySchedule(attemptsMax: 100))
        let throttled = PushOutcome.answered(PushAnswer(status: 429, reason: .tooManyRequests))
        let waits = (0..<8).map { before in
            wait(policy.verdict(on: throttled, of: subject(Attempts(before: before))))?.delay.seconds
        }
        #expect(waits == [5, 30, 120, 600, 900, 3600, 3600, 3600])
        #expect(wait(verdict(429, .tooManyRequests, retryAfter: 31))?.delay.seconds == 120)
        #expect(wait(verdict(429, .tooManyRequests, retryAfter: 1_000_000))?.delay.seconds == 3600, "not the longest")
        #expect(wait(verdict(502, isFromAPNS: false))?.delay.seconds == 5, "a proxy delays like APNs")
    }

    @Test func aRequestWaitsShorterOrExpiresBeforeItsDeadline() {
        #expect(wait(verdict(503, .shutdown, expiration: Self.now + 3600))?.delay.seconds == 900)
        #expect(wait(verdict(503, .shutdown, expiration: Self.now + 900))?.delay.seconds == 600, "too late")
        #expect(wait(verdict(503, .shutdown, expiration: Self.now + 8))?.delay.seconds == 5)
        let expired = finalOutcome(verdict(503, .shutdown, expiration: Self.now + 7))
        #expect(expired?.outcome == .expired && expired?.answer?.status == 503)
    }

    @Test func anExpirationOfZeroAllowsOneAttempt() {
        #expect(finalOutcome(verdict(429, .tooManyRequests, expiration: 0))?.outcome == .expired)
        #expect(finalOutcome(policy.verdict(on: .unknown(.timedOut), of: subject(expiration: 0)))?.outcome == .unknown)
        let cause = HoldReason("unreachable", "")
        #expect(finalOutcome(policy.hold(cause, of: subject(expiration: 0)))?.outcome == .expired)
    }

    @Test func aRequestIsGivenUpAfterADay() {
        var attempts = Attempts(before: 1)
        attempts.firstTriedAtMilliseconds = (Self.now - 86_400) * 1000
        let throttled = PushOutcome.answered(PushAnswer(status: 429, reason: .tooManyRequests))
        #expect(
            finalOutcome(policy.verdict(on: throttled, of: subject(attempts)))?.deadLetter?.deadClass == "exhausted")
        attempts.firstTriedAtMilliseconds = (Self.now - 86_399) * 1000
        #expect(wait(policy.verdict(on: throttled, of: subject(attempts))) != nil)
    }

    @Test func foreignTextStaysOutOfTheCode() {
        let page = finalOutcome(verdict(400, .unknown("BadDev.com"), isFromAPNS: false, before: 2))?.deadLetter
        #expect(page?.code == "status-400" && page?.deadClass == "exhausted")
        #expect(page?.sentence.contains("BadDev.com") == true)
        let token = String(repeating: "ab", count: 32)
        #expect(finalOutcome(verdict(400, .unknown(token)))?.deadLetter?.sentence.contains(token) == false)
        #expect(finalOutcome(verdict(403, .unknown("NewReason")))?.deadLetter?.code == "status-403")
    }

    @Test func anUnknownOutcomeIsRetriedUntilTheLastAttempt() {
        let wait = wait(policy.verdict(on: .unknown(.timedOut), of: subject()))
        #expect(wait?.delay.seconds == 5 && wait?.reason == "unknown")
        #expect(wait?.attempts.before == 1 && wait?.attempts.possibleDuplicate == true)
        let last = finalOutcome(policy.verdict(on: .unknown(.timedOut), of: subject(Attempts(before: 2))))
        #expect(last?.outcome == .unknown)
        #expect(last?.deadLetter?.deadClass == "unknown")
    }

    @Test func anUnknownOutcomeIsFinalIfConfigured() {
        let concluded = OutcomePolicy(resendsUnknown: false).verdict(on: .unknown(.timedOut), of: subject())
        #expect(finalOutcome(concluded)?.outcome == .unknown)
    }

    @Test func anUnsentPushCountsNoAttempt() {
        let attempts = Attempts(before: 1, possibleDuplicate: true)
        #expect(policy.verdict(on: .notSent(.draining), of: subject(attempts)) == .requeue)
        #expect(finalOutcome(policy.verdict(on: .notSent(.expired), of: subject(attempts)))?.outcome == .expired)
        let wait = wait(policy.verdict(on: .notSent(.noConnection), of: subject(attempts)))
        #expect(wait?.attempts.before == 1 && wait?.attempts.possibleDuplicate == true)
        #expect(wait?.attempts.rounds == 1 && wait?.attempts.holds == 1)
    }

    @Test(arguments: [
        (NotSentReason.noConnection, "no-connection"), (.overloaded, "overloaded"), (.refused, "refused-stream"),
        (.noToken, "token"), (.notWritten(silentConnection: 1), "no-connection"),
    ]) func holdReasonsHaveOneCode(_ reason: NotSentReason, _ code: String) {
        #expect(wait(policy.verdict(on: .notSent(reason), of: subject()))?.reason == "held-\(code)")
    }

    @Test func heldRequestsWaitTenMinutesFromTheTenthRound() {
        var attempts = Attempts()
        attempts.heldSinceMilliseconds = (Self.now - 60) * 1000
        for (holds, seconds) in [(8, 120), (9, 600), (100, 600)] {
            attempts.holds = holds
            #expect(wait(policy.hold(.paused, of: subject(attempts)))?.delay.seconds == seconds)
        }
    }

    // The wait is never shorter than the shortest delay, even if less time remains.
    @Test(arguments: [(800, 600), (700, 120), (100, 30), (20, 5), (1, 5)])
    func heldRequestsWaitNoLongerThanTheyAreHeld(secondsLeft: Int, delay: Int) {
        var attempts = Attempts()
        attempts.holds = 9
        attempts.heldSinceMilliseconds = (Self.now - 3600 + Int64(secondsLeft)) * 1000
        #expect(wait(policy.hold(.paused, of: subject(attempts)))?.delay.seconds == delay)
    }

    /// A held request waits for the configured delay whose ratio to the wanted delay is nearest to 1.
    @Test(arguments: [([1, 2], 2, 2), ([5, 3600], 5, 3600), ([20, 60], 20, 60), ([3600], 3600, 3600)])
    func heldRequestsWaitForTheNearestDelay(delays: [Int], first: Int, tenth: Int) {
        let schedule = RetrySchedule(waits: delays.map { WaitDelay(seconds: $0) })
        func hold(_ round: Int) -> Int? {
            schedule.hold(round: round, secondsLeft: 86_400, latestSeconds: nil)?.seconds
        }
        #expect(hold(0) == first && hold(9) == tenth)
        #expect(schedule.hold(round: 0, secondsLeft: 86_400, latestSeconds: 1) == nil)
    }

    @Test func heldRequestsWaitLongerFromTheThirdRoundAndEnd() {
        let cause = HoldReason("InvalidProviderToken", "It was revoked.")
        var attempts = Attempts(before: 2)
        for seconds in [30, 30, 120, 120] {
            guard let wait = wait(policy.hold(cause, of: subject(attempts))) else { return #expect(Bool(false)) }
            #expect(wait.delay.seconds == seconds)
            #expect(wait.attempts.before == 2 && wait.attempts.heldSinceMilliseconds == Self.now * 1000)
            attempts = wait.attempts
        }
        #expect(wait(policy.hold(cause, of: subject(expiration: Self.now + 20)))?.delay.seconds == 5)
        #expect(finalOutcome(policy.hold(cause, of: subject(expiration: Self.now + 2)))?.outcome == .expired)
        attempts.heldSinceMilliseconds = (Self.now - 3600) * 1000
        let end = finalOutcome(policy.hold(cause, of: subject(attempts)))
        #expect(end?.outcome == .rejected)
        #expect(end?.deadLetter?.deadClass == "held" && end?.deadLetter?.code == "InvalidProviderToken")
    }

    @Test func anAttemptEndsTheHolding() {
        var attempts = Attempts(before: 1)
        attempts.holds = 4
        attempts.heldSinceMilliseconds = 5
        let next = attempts.tried(atMilliseconds: 7)
        #expect(next.holds == 0 && next.heldSinceMilliseconds == nil && next.before == 2)
    }

    /// The request waits in the queue of the shortest sufficient delay, with requests of similar waits.
    @Test(arguments: [
        (1, 5, 1, 0), (1700, 5, 1700, 1), (5000, 5, 5000, 2), (5001, 30, 5001, 0), (29_000, 30, 29_000, 2),
        (3_600_000, 3600, 3_600_000, 2),
    ])
    func aRequestWithAKnownSlotWaitsUntilThen(milliseconds: Int64, delay: Int, exact: Int64, sibling: Int) {
        let wait = wait(policy.hold(.appLimit, of: subject(), permitAfterMilliseconds: milliseconds))
        #expect(wait?.delay == WaitDelay(seconds: delay) && wait?.reason == "held-app-limit")
        #expect(wait?.exact == Wait.Exact(milliseconds: exact, sibling: sibling))
        #expect(wait?.attempts.before == 0 && wait?.attempts.holds == 1)
    }

    @Test func noWaitForASlotExceedsTheLongestDelay() {
        let wait = wait(policy.hold(.appLimit, of: subject(), permitAfterMilliseconds: 3_600_001))
        #expect(wait?.delay == WaitDelay(seconds: 3600) && wait?.exact == nil)
    }

    /// A request whose slot would be too late returns earlier, in case a slot becomes free.
    @Test func noWaitForASlotExceedsTheExpiration() {
        func verdict(_ secondsLeft: Int64, permitAfterSeconds: Int64) -> Verdict {
            policy.hold(
                .appLimit, of: subject(expiration: Self.now + secondsLeft),
                permitAfterMilliseconds: permitAfterSeconds * 1000)
        }
        #expect(wait(verdict(60, permitAfterSeconds: 20))?.exact?.milliseconds == 20_000)
        let early = wait(verdict(60, permitAfterSeconds: 60))
        #expect(early?.delay == WaitDelay(seconds: 30) && early?.exact == nil)
        // Behind other requests, the request might return after 37 seconds.
        #expect(wait(verdict(33, permitAfterSeconds: 20))?.delay == WaitDelay(seconds: 5))
        #expect(wait(verdict(4, permitAfterSeconds: 2))?.exact?.milliseconds == 2000, "the exact wait differs")
        #expect(finalOutcome(verdict(5, permitAfterSeconds: 60))?.outcome == .expired)
        let oneTry = policy.hold(.appLimit, of: subject(expiration: 0), permitAfterMilliseconds: 1)
        #expect(finalOutcome(oneTry)?.outcome == .expired)
    }

    @Test func aRequestWithoutASlotIsGivenUp() {
        var attempts = Attempts()
        attempts.holds = 5
        attempts.heldSinceMilliseconds = (Self.now - 3600) * 1000
        let concluded = finalOutcome(policy.hold(.appLimit, of: subject(attempts), permitAfterMilliseconds: 1))
        #expect(concluded?.outcome == .rejected)
        #expect(concluded?.deadLetter?.deadClass == "held" && concluded?.deadLetter?.code == "app-limit")
    }

    @Test(arguments: [0, 1]) func aRequestIsHeldUntilItsLastMillisecond(millisecondsLeft: Int64) {
        var attempts = Attempts()
        attempts.heldSinceMilliseconds = (Self.now - 3600) * 1000 + millisecondsLeft
        let verdict = policy.hold(HoldReason("unreachable", "It is gone."), of: subject(attempts))
        #expect((wait(verdict) != nil) == (millisecondsLeft > 0))
        #expect(finalOutcome(verdict)?.deadLetter?.deadClass == (millisecondsLeft > 0 ? nil : "held"))
    }

    /// Each third of the time between two delays has its own sibling queue.
    @Test(arguments: [(30_001, 0), (59_999, 0), (60_000, 1), (89_999, 1), (90_000, 2), (120_000, 2)])
    func anExactWaitSelectsItsSiblingQueue(milliseconds: Int64, sibling: Int) {
        let schedule = RetrySchedule(waits: [WaitDelay(seconds: 30), WaitDelay(seconds: 120)])
        let wait = schedule.permitWait(afterMilliseconds: milliseconds, latestSeconds: nil)
        #expect(wait?.delay == WaitDelay(seconds: 120))
        #expect(wait?.exact == Wait.Exact(milliseconds: milliseconds, sibling: sibling))
    }
}
