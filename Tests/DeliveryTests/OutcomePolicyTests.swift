import APNS
import APNSProtocol
import Crypto
import Testing

@testable import Delivery

@Suite struct OutcomePolicyTests {
    private let policy = OutcomePolicy(
        schedule: RetrySchedule(attemptsMax: 3, waits: [WaitDelay(seconds: 30)]), resendsUnknown: true)
    private let now: Int64 = 1_800_000_000

    private func notification(expiration: Int64? = nil, registeredAt: Int64? = nil) -> PushNotification {
        PushNotification(
            push: PushRequest(
                target: .device(ArraySlice("aabb".utf8)), topic: Array("com.example.app".utf8), pushType: .alert,
                expiration: expiration, id: UUIDValue(high: 1, low: 2), payload: Array("{}".utf8)),
            pool: 0, registeredAtMilliseconds: registeredAt)
    }

    private func verdict(
        _ status: Int, _ reason: Reason? = nil, timestamp: Int64? = nil, before: Int = 0, expiration: Int64? = nil,
        registeredAt: Int64? = nil
    ) -> OutcomePolicy.Verdict {
        policy.verdict(
            on: .answered(PushAnswer(status: status, reason: reason, timestampMilliseconds: timestamp)),
            of: notification(expiration: expiration, registeredAt: registeredAt), Attempts(before: before),
            unixSeconds: now)
    }

    private func conclusion(_ verdict: OutcomePolicy.Verdict) -> Conclusion? {
        if case .conclude(let conclusion) = verdict { conclusion } else { nil }
    }

    @Test func anAcceptedPushIsTold() {
        let told = conclusion(verdict(200))
        #expect(told?.outcome == .accepted)
        #expect(told?.tokenState == .valid)
        #expect(told?.deadLetter == nil)
    }

    @Test func anUnregisteredDeviceIsNoDeadLetter() {
        let told = conclusion(verdict(410, .unregistered, timestamp: 1_700_000_000_123))
        #expect(told?.outcome == .rejected)
        #expect(told?.tokenState == .unregistered)
        #expect(told?.answer?.timestampMilliseconds == 1_700_000_000_123)
        #expect(told?.deadLetter == nil)
    }

    @Test func aDeviceThatRegisteredLaterThanThe410KeepsItsToken() {
        let told = conclusion(verdict(410, .unregistered, timestamp: 1000, registeredAt: 1001))
        #expect(told?.tokenState == .valid)
        #expect(told?.deadLetter?.code == "Unregistered")
        #expect(
            conclusion(verdict(410, .unregistered, timestamp: 1000, registeredAt: 1000))?.tokenState == .unregistered)
    }

    @Test func aDoubtfulTokenIsSuspectAndSomebodyLooks() {
        let told = conclusion(verdict(400, .badDeviceToken))
        #expect(told?.tokenState == .suspect)
        #expect(told?.deadLetter?.deadClass == "apns")
        #expect(told?.deadLetter?.code == "BadDeviceToken")
    }

    @Test(arguments: [Reason.invalidProviderToken, .missingProviderToken, .badCertificate, .badEnvironmentKeyIDInToken])
    func aRefusedKeyIsAFaultAndNoResult(reason: Reason) {
        guard case .fault(let text) = verdict(403, reason) else { return #expect(Bool(false), "no fault") }
        #expect(text.contains(reason.text))
    }

    @Test func aWrongTopicHurtsItsOwnMessages() {
        #expect(conclusion(verdict(400, .topicDisallowed))?.deadLetter?.code == "TopicDisallowed")
    }

    @Test(arguments: [(500, Reason.internalServerError), (503, .serviceUnavailable), (429, .tooManyRequests)])
    func aTransientRefusalIsTriedAgainAndCounted(status: Int, reason: Reason) {
        #expect(
            verdict(status, reason)
                == .retry(
                    Retry(
                        wait: WaitDelay(seconds: 30), attempts: Attempts(before: 1, rounds: 1),
                        reason: reason.text)))
        let last = conclusion(verdict(status, reason, before: 2))
        #expect(last?.outcome == .rejected)
        #expect(last?.deadLetter?.deadClass == "exhausted")
        #expect(last?.deadLetter?.code == reason.text)
    }

    @Test func whatWouldComeBackTooLateHasExpired() {
        #expect(conclusion(verdict(503, .shutdown, expiration: now + 30))?.outcome == .expired)
        #expect(conclusion(verdict(503, .shutdown, expiration: now + 31)) == nil)
        #expect(conclusion(verdict(503, .shutdown, expiration: 0)) == nil, "0 is one attempt, and never expires")
    }

    @Test func anUnknownOutcomeIsSentAgainUntilTheTriesEnd() {
        let error = UnknownReason.timedOut
        #expect(
            policy.verdict(on: .unknown(error), of: notification(), Attempts(before: 0), unixSeconds: now)
                == .retry(
                    Retry(
                        wait: WaitDelay(seconds: 30),
                        attempts: Attempts(before: 1, possibleDuplicate: true, rounds: 1),
                        reason: "unknown")))
        let last = conclusion(
            policy.verdict(on: .unknown(error), of: notification(), Attempts(before: 2), unixSeconds: now))
        #expect(last?.outcome == .unknown)
        #expect(last?.deadLetter?.deadClass == "unknown")
    }

    @Test func byConfigurationAnUnknownOutcomeIsToldAtOnce() {
        let told = OutcomePolicy(resendsUnknown: false)
            .verdict(on: .unknown(.timedOut), of: notification(), Attempts(), unixSeconds: now)
        #expect(conclusion(told)?.outcome == .unknown)
    }

    @Test func whatWasNotSentCountsNoTry() {
        let attempts = Attempts(before: 1, possibleDuplicate: true)
        #expect(policy.verdict(on: .notSent(.draining), of: notification(), attempts, unixSeconds: now) == .requeue)
        guard
            case .retry(let retry) = policy.verdict(
                on: .notSent(.noConnection), of: notification(), attempts, unixSeconds: now)
        else { return #expect(Bool(false), "no retry") }
        #expect(retry.attempts == Attempts(before: 1, possibleDuplicate: true, rounds: 1))
    }
}
