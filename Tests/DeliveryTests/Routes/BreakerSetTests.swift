import APNS
import APNSProtocol
import Crypto
import EventLoop
import Testing

@testable import Delivery

/// The breakers of two endpoints. Pools 0 and 1, with two keys, use the first endpoint. Pool 2 uses the second
/// endpoint.
@Suite struct BreakerSetTests {
    private final class Fixture {
        var breakers = BreakerSet(endpointOfPool: [0, 0, 1])
        var now = MonotonicTime(nanoseconds: 0)
        var number: UInt64 = 0

        func wait(_ seconds: Int64) { now = now + .seconds(seconds) }

        func admit(_ route: Route) -> AdmittedPush? {
            if case .go(let pass) = breakers.admit(route, now) { pass } else { nil }
        }

        @discardableResult
        func record(
            _ outcome: PushOutcome, _ pass: AdmittedPush, random: UInt64 = 0
        ) -> BreakerSet.Consequence {
            number += 1
            return breakers.record(outcome, of: UUIDValue(high: 1, low: number), pass, now, random: random)
        }

        /// Admits a push and records its answer immediately. Returns nil if the push is not admitted.
        func push(_ route: Route, _ status: Int, _ reason: Reason? = nil, connection: Int = 0) -> BreakerSet
            .Consequence?
        {
            admit(route).map { record(answer(status, reason, connection: connection), $0) }
        }

        func answer(_ status: Int, _ reason: Reason? = nil, connection: Int = 0, isFromAPNS: Bool = true) -> PushOutcome
        {
            var answer = PushAnswer(status: status, reason: reason)
            answer.connection = connection
            answer.isFromAPNS = isFromAPNS
            return .answered(answer)
        }

        func takeChanges() -> [BreakerSet.Change] {
            breakers.takeChanges()
        }
    }

    private let first = Route(pool: 0, number: 0)
    private let second = Route(pool: 1, number: 2)
    private let third = Route(pool: 2, number: 1)
    private let otherTopic = Route(pool: 0, number: 4)

    @Test func aRefusedKeyHoldsOnlyItsOwnRoutes() {
        let fixture = Fixture()
        guard case .hold(let cause)? = fixture.push(first, 403, .invalidProviderToken) else {
            return #expect(Bool(false), "the route is not held")
        }
        #expect(cause.code == "InvalidProviderToken")
        #expect(fixture.admit(first) == nil && fixture.admit(otherTopic) == nil)
        #expect(fixture.admit(second) != nil && fixture.admit(third) != nil)
        #expect(fixture.takeChanges() == [.opened(.credential(pool: 0), cause)])
    }

    @Test func pushesRefusedTogetherOpenTheBreakerOnce() {
        let fixture = Fixture()
        let together = [fixture.admit(first), fixture.admit(first)].compactMap { $0 }
        for pass in together { fixture.record(fixture.answer(403, .invalidProviderToken), pass) }
        #expect(fixture.takeChanges().count == 1)
        fixture.wait(5)
        #expect(fixture.push(first, 200) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func oneRequestProbesAfterGrowingWaits() {
        let fixture = Fixture()
        _ = fixture.push(first, 403, .invalidProviderToken)
        fixture.wait(4)
        #expect(fixture.admit(first) == nil)
        for seconds in [1, 5, 10, 20, 30, 30, 30] as [Int64] {
            fixture.wait(seconds)
            guard let probe = fixture.admit(first) else { return #expect(Bool(false), "no probe after \(seconds) s") }
            #expect(probe.isProbe && !probe.needsFreshConnection)
            #expect(fixture.admit(first) == nil, "two probes are in flight")
            fixture.wait(1)
            fixture.record(fixture.answer(403, .invalidProviderToken), probe)
            #expect(fixture.admit(first) == nil)
        }
    }

    @Test func anOperatorsProbeIsDueAtOnce() {
        let fixture = Fixture()
        _ = fixture.push(first, 403, .invalidProviderToken)
        fixture.wait(5)
        for _ in 0..<4 {
            guard let probe = fixture.admit(first) else { return #expect(Bool(false), "no probe") }
            fixture.record(fixture.answer(403, .invalidProviderToken), probe)
            #expect(fixture.admit(first) == nil)
            for _ in 0..<2 { fixture.breakers.probeNow(.credential(pool: 0), fixture.now) }
        }
        guard let probe = fixture.admit(first) else { return #expect(Bool(false), "no probe") }
        fixture.breakers.probeNow(.credential(pool: 0), fixture.now)
        #expect(probe.isProbe && fixture.admit(first) == nil, "two probes are in flight")
        fixture.record(fixture.answer(200), probe)
        #expect(fixture.breakers.areAllClosed)
        fixture.breakers.probeNow(.credential(pool: 0), fixture.now)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func aProbeOfAnotherScopeChangesNoWait() {
        let fixture = Fixture()
        _ = fixture.push(first, 403, .invalidProviderToken)
        fixture.breakers.probeNow(.credential(pool: 1), fixture.now)
        fixture.breakers.probeNow(.endpoint(0), fixture.now)
        fixture.breakers.probeNow(.topic(first), fixture.now)
        #expect(fixture.admit(first) == nil)
    }

    @Test func theNextProbeWaitsForTheUpperHalfOfTheInterval() {
        let now = MonotonicTime(nanoseconds: 0)
        let waits = (0...5001 as ClosedRange<UInt64>).map { random in
            var breaker = Breaker()
            _ = breaker.open(HoldReason("x", ""), .byMessage, now)
            breaker.probeFailed(now, random: random)
            return breaker.opening.map { now.duration(to: $0.nextProbe) }
        }
        #expect(waits.compactMap(\.self).min() == .seconds(5) && waits.compactMap(\.self).max() == .seconds(10))
    }

    // All apps wait for the endpoint, and its answers prove that it pushed nothing.
    @Test func anAnsweringEndpointIsProbedEveryTenSecondsAtLeast() {
        let fixture = Fixture()
        for number in 0..<EndpointEvidence.messagesMin { _ = fixture.push(first, 500, connection: number) }
        for _ in 0..<5 {
            fixture.wait(10)
            guard let probe = fixture.admit(first), probe.isProbe else {
                return #expect(Bool(false), "no probe is admitted")
            }
            // This random number selects the longest possible wait.
            fixture.record(fixture.answer(500), probe, random: 10_000 / 2)
        }
    }

    @Test func anOpenBreakerReportsItsLastCause() {
        let (fixture, first, last) = (Fixture(), HoldReason("unreachable", ""), HoldReason("certificate", ""))
        for cause in [first, last] { fixture.breakers.cannotConnect(0, isAlone: false, cause, fixture.now) }
        #expect(fixture.breakers.opening(at: .endpoint(0))?.cause == last)
        #expect(fixture.takeChanges() == [.opened(.endpoint(0), first)])
    }

    @Test(arguments: [0, 1] as [Int64])
    func theFirstSuccessThatBeganAfterTheOpeningClosesTheBreaker(secondsBefore: Int64) {
        let fixture = Fixture()
        guard let before = fixture.admit(first) else { return #expect(Bool(false)) }
        fixture.wait(secondsBefore)
        _ = fixture.push(first, 403, .invalidProviderToken)
        fixture.record(fixture.answer(200), before)
        #expect(fixture.admit(first) == nil, "an earlier push closed the breaker")
        fixture.wait(5)
        #expect(fixture.push(first, 200) == .judge)
        #expect(fixture.admit(first)?.isProbe == false)
        #expect(fixture.breakers.areAllClosed)
    }

    // The probe of another breaker began before this breaker opened.
    @Test func aProbeDoesNotCloseABreakerThatOpenedLater() {
        let fixture = Fixture()
        for number in 0..<EndpointEvidence.messagesMin { _ = fixture.push(first, 500, connection: number) }
        fixture.wait(5)
        guard let probe = fixture.admit(first), probe.isProbe else {
            return #expect(Bool(false), "no probe is admitted")
        }
        fixture.wait(1)
        let refusal = HoldReason(.handshake("revoked"))
        fixture.breakers.refused(0, refusal, fixture.now)
        fixture.record(fixture.answer(200), probe)
        #expect(fixture.breakers.openings.map(\.scope) == [.credential(pool: 0)])
    }

    @Test(arguments: [Reason?.none, .forbidden, .unknown("NewReason")])
    func aRefusalThatMayConcernTheKeyDoesNotProveTheKey(reason: Reason?) {
        let fixture = Fixture()
        _ = fixture.push(first, 403, .invalidProviderToken)
        fixture.wait(5)
        #expect(fixture.push(first, 403, reason) == .judge)
        #expect(fixture.breakers.openings.map(\.scope) == [.credential(pool: 0)])
        #expect(fixture.push(first, 200) == .judge, "the next push was not a probe")
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func aRefusalOfTheRequestProvesTheKey() {
        let fixture = Fixture()
        _ = fixture.push(first, 403, .invalidProviderToken)
        fixture.wait(5)
        #expect(fixture.push(first, 400, .badDeviceToken) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func aProbeWithoutAnAnswerAllowsTheNext() {
        let fixture = Fixture()
        _ = fixture.push(first, 403, .invalidProviderToken)
        fixture.wait(5)
        guard let probe = fixture.admit(first) else { return #expect(Bool(false)) }
        #expect(fixture.record(.notSent(.expired), probe) == .judge)
        #expect(fixture.admit(first)?.isProbe == true)
    }

    @Test func anEarlierPushDoesNotDecideTheProbe() {
        let fixture = Fixture()
        guard let before = fixture.admit(first) else { return #expect(Bool(false)) }
        fixture.wait(1)
        _ = fixture.push(first, 403, .invalidProviderToken)
        fixture.wait(5)
        #expect(fixture.admit(first)?.isProbe == true)
        fixture.record(.unknown(.timedOut), before)
        #expect(fixture.admit(first) == nil, "two probes are in flight")
    }

    @Test func aTopicThatANewConnectionAcceptsIsNoLongerHeld() {
        let fixture = Fixture()
        guard case .sendAgain(let again)? = fixture.push(first, 400, .topicDisallowed) else {
            return #expect(Bool(false), "the push was not sent again")
        }
        #expect(fixture.record(fixture.answer(200), again) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func aTopicIsRetriedOnceOnANewConnectionAndThenHeldAlone() {
        let fixture = Fixture()
        guard case .sendAgain(let again)? = fixture.push(first, 400, .topicDisallowed) else {
            return #expect(Bool(false), "the push was not sent again")
        }
        #expect(again.needsFreshConnection && again.isProbe)
        #expect(fixture.admit(first) == nil, "the topic is not held during the probe")
        #expect(fixture.admit(otherTopic) != nil)
        guard case .hold(let cause) = fixture.record(fixture.answer(400, .topicDisallowed), again) else {
            return #expect(Bool(false), "the route is not held")
        }
        #expect(cause.code == "TopicDisallowed")
        #expect(fixture.admit(first) == nil && fixture.admit(otherTopic) != nil)
        fixture.wait(60)
        guard let probe = fixture.admit(first) else { return #expect(Bool(false), "no probe is admitted") }
        #expect(probe.needsFreshConnection)
        #expect(fixture.record(fixture.answer(200), probe) == .judge)
        #expect(fixture.breakers.areAllClosed && fixture.admit(first)?.needsFreshConnection == false)
    }

    @Test func anOvertakenProbeIsNotRetried() {
        let fixture = Fixture()
        guard case .sendAgain(let again)? = fixture.push(first, 400, .topicDisallowed) else {
            return #expect(Bool(false), "the push was not sent again")
        }
        let early = AdmittedPush(route: first, begunAt: fixture.now, isProbe: true)
        #expect(fixture.record(fixture.answer(200), early) == .judge)
        #expect(fixture.breakers.areAllClosed)
        guard case .hold = fixture.record(fixture.answer(400, .topicDisallowed), again) else {
            return #expect(Bool(false), "the route is not held")
        }
    }

    @Test func oneRequestOrOneConnectionIsNoEvidenceAgainstAnEndpoint() {
        let fixture = Fixture()
        guard let pass = fixture.admit(first) else { return #expect(Bool(false)) }
        for connection in 0..<10 {
            let answer = fixture.answer(500, .internalServerError, connection: connection)
            #expect(
                fixture.breakers.record(answer, of: UUIDValue(high: 1, low: 1), pass, fixture.now, random: 0) == .judge)
        }
        for _ in 0..<10 { #expect(fixture.push(third, 500, .internalServerError, connection: 1) == .judge) }
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func fiveRequestsOverTwoConnectionsAreEvidenceUnlessOneSucceeds() {
        let fixture = Fixture()
        for connection in [0, 1, 0, 1] {
            #expect(fixture.push(first, 503, .shutdown, connection: connection) == .judge)
        }
        #expect(fixture.breakers.areAllClosed, "one failing server opened the breaker")
        for connection in [0, 1, 0, 1] {
            #expect(fixture.push(first, 500, .internalServerError, connection: connection) == .judge)
        }
        #expect(fixture.push(second, 200) == .judge)
        for connection in [0, 1, 0, 1] {
            #expect(fixture.push(first, 500, .internalServerError, connection: connection) == .judge)
        }
        guard case .hold(let cause)? = fixture.push(first, 500, .internalServerError, connection: 0) else {
            return #expect(Bool(false), "the route is not held")
        }
        #expect(cause.code == "failing")
        #expect(fixture.admit(second) == nil, "the failing endpoint is not held")
        #expect(fixture.admit(third) != nil)
        fixture.wait(5)
        #expect(fixture.push(second, 200) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func failuresBeforeAConnectionIsUpAreNoEvidence() {
        let fixture = Fixture()
        for connection in [0, 1, 0, 1] {
            #expect(fixture.push(first, 500, .internalServerError, connection: connection) == .judge)
        }
        fixture.breakers.cannotConnect(0, isAlone: false, HoldReason("unreachable", "not reachable"), fixture.now)
        fixture.breakers.connected(0)
        #expect(fixture.push(first, 500, .internalServerError) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func aProxysPageCountsAsAFailureOfTheEndpoint() {
        let fixture = Fixture()
        for number in 0..<5 {
            guard let pass = fixture.admit(first) else { return #expect(Bool(false), "the endpoint is held too soon") }
            let page = fixture.answer(403, .unknown("<html>"), connection: number, isFromAPNS: false)
            let consequence = fixture.record(page, pass)
            #expect((consequence == .judge) == (number < 4))
        }
        #expect(fixture.admit(second) == nil)
    }

    @Test func anUnreachableEndpointIsHeldUntilAConnectionIsUp() {
        let fixture = Fixture()
        fixture.breakers.cannotConnect(1, isAlone: false, HoldReason("unreachable", "not reachable"), fixture.now)
        fixture.wait(3600)
        #expect(fixture.admit(first) == nil, "a push probes the endpoint")
        #expect(fixture.admit(third) != nil)
        fixture.breakers.connected(2)
        #expect(fixture.admit(first) == nil)
        fixture.breakers.connected(0)
        #expect(fixture.admit(first) != nil)
        guard case .closed(.endpoint(0), let opening)? = fixture.takeChanges().last else {
            return #expect(Bool(false), "the closing was not recorded")
        }
        #expect(opening.since.duration(to: fixture.now) == .seconds(3600))
    }

    @Test func onlyACredentialThatCannotConnectIsHeld() {
        let fixture = Fixture()
        fixture.breakers.cannotConnect(1, isAlone: true, HoldReason("unreachable", "not admitted"), fixture.now)
        #expect(fixture.admit(second) == nil && fixture.breakers.awaitsConnection(1))
        #expect(fixture.admit(first) != nil && !fixture.breakers.awaitsConnection(0), "a good key is held")
        fixture.breakers.connected(0)
        #expect(fixture.admit(second) == nil)
        fixture.breakers.connected(1)
        #expect(fixture.breakers.areAllClosed && !fixture.breakers.awaitsConnection(1))
    }

    @Test func aRefusedCredentialIsNotTreatedAsUnreachable() {
        let fixture = Fixture()
        let (refused, silent) = (HoldReason("BadCertificate", "no"), HoldReason("unreachable", "not admitted"))
        fixture.breakers.refused(1, refused, fixture.now)
        fixture.breakers.cannotConnect(1, isAlone: true, silent, fixture.now)
        fixture.breakers.connected(1)
        #expect(fixture.breakers.opening(at: .credential(pool: 1))?.cause == refused)
    }

    @Test func aRefusalOfAnUnreachableCredentialIsReported() {
        let fixture = Fixture()
        let (refused, silent) = (HoldReason("BadCertificate", "no"), HoldReason("unreachable", "not admitted"))
        fixture.breakers.cannotConnect(1, isAlone: true, silent, fixture.now)
        fixture.breakers.refused(1, refused, fixture.now)
        fixture.breakers.refused(1, refused, fixture.now)
        let place = BreakerScope.credential(pool: 1)
        #expect(fixture.takeChanges() == [.opened(place, silent), .opened(place, refused)])
        fixture.wait(5)
        #expect(fixture.push(second, 200) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func unregisteredDevicesHoldNothing() {
        let fixture = Fixture()
        for number in 0..<1000 { #expect(fixture.push(first, 410, .unregistered, connection: number % 2) == .judge) }
        #expect(fixture.breakers.areAllClosed && fixture.takeChanges() == [])
    }

    @Test func aRefusalProvesThatTheEndpointIsReachable() {
        let fixture = Fixture()
        fixture.breakers.cannotConnect(0, isAlone: false, HoldReason("unreachable", "not reachable"), fixture.now)
        let refusal = HoldReason(.handshake("revoked"))
        fixture.breakers.refused(1, refusal, fixture.now)
        #expect(fixture.admit(first) != nil)
        #expect(fixture.breakers.opening(at: .credential(pool: 1))?.cause == refusal)
        fixture.wait(5)
        guard let probe = fixture.admit(second) else { return #expect(Bool(false), "no push probes the breaker") }
        #expect(fixture.record(.notSent(.certificateRefused(.handshake("revoked"))), probe) == .hold(refusal))
        fixture.wait(10)
        #expect(fixture.push(second, 200) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func aRefusedCertificateDoesNotCloseAFailingEndpoint() {
        let fixture = Fixture()
        for number in 0..<5 { _ = fixture.push(first, 500, connection: number) }
        fixture.wait(5)
        guard let probe = fixture.admit(second) else { return #expect(Bool(false), "no push probes the breaker") }
        _ = fixture.record(.notSent(.certificateRefused(.handshake("revoked"))), probe)
        #expect(fixture.breakers.opening(at: .endpoint(0)) != nil)
    }

    // The server accepts connections, but answers no push.
    @Test func aSilentEndpointIsHeldAlthoughItsConnectionsAreUp() {
        let fixture = Fixture()
        for number in 1...EndpointEvidence.messagesMin {
            guard let pass = fixture.admit(first) else { return #expect(Bool(false), "held after \(number - 1)") }
            let outcome = PushOutcome.unknown(.timedOut, silentConnection: number)
            #expect(fixture.record(outcome, pass) == .judge, "the outcome is not judged")
        }
        #expect(fixture.admit(first) == nil)
        fixture.wait(5)
        guard let probe = fixture.admit(first) else { return #expect(Bool(false), "no push probes the breaker") }
        fixture.record(.unknown(.timedOut, silentConnection: 9), probe)
        #expect(fixture.admit(first) == nil)
        fixture.wait(10)
        #expect(fixture.push(first, 200) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func anEndpointWhoseConnectionsEndIsProbedByARequest() {
        let fixture = Fixture()
        let cause = HoldReason(endedUnanswered: TransportError(.reset, "reset"))
        for _ in 0..<2 { fixture.breakers.endedUnanswered(2, cause, fixture.now) }
        #expect(fixture.takeChanges() == [.opened(.endpoint(1), cause)] && cause.code == "unanswered")
        #expect(fixture.admit(third) == nil && fixture.admit(first) != nil && fixture.admit(second) != nil)
        fixture.breakers.connected(2)
        #expect(fixture.admit(third) == nil, "a connection closed the breaker")
        var waits: [Int64] = [5, 5, 10, 20, 30]
        for outcome in [
            PushOutcome.unknown(.connectionLost, silentConnection: 4), .notSent(.refused), .notSent(.noConnection),
            .notSent(.notWritten(silentConnection: nil)),
        ] {
            fixture.wait(waits.removeFirst())
            guard let probe = fixture.admit(third), probe.isProbe else { return #expect(Bool(false), "\(outcome)") }
            fixture.record(outcome, probe)
            #expect(fixture.admit(third) == nil, "the next probe came too early after \(outcome)")
        }
        fixture.wait(waits.removeFirst())
        #expect(fixture.push(third, 200) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func anEndpointIsBlamedWhenAllItsCredentialsAre() {
        let fixture = Fixture()
        let cause = HoldReason(endedUnanswered: TransportError(.reset, "reset"))
        for pool in [0, 0, 1] { fixture.breakers.endedUnanswered(pool, cause, fixture.now) }
        #expect(fixture.takeChanges() == [.opened(.credential(pool: 0), cause), .opened(.endpoint(0), cause)])
    }

    @Test func onlyACredentialWhoseConnectionsEndIsHeld() {
        let fixture = Fixture()
        let cause = HoldReason(endedUnanswered: TransportError(.reset, "reset"))
        fixture.breakers.endedUnanswered(1, cause, fixture.now)
        #expect(fixture.admit(second) == nil && fixture.admit(first) != nil && !fixture.breakers.awaitsConnection(1))
        fixture.breakers.connected(1)
        #expect(fixture.push(first, 200) == .judge && fixture.admit(second) == nil)
        fixture.wait(5)
        guard let probe = fixture.admit(second) else { return #expect(Bool(false), "no push probes the breaker") }
        #expect(fixture.record(.notSent(.noConnection), probe) == .hold(cause))
        #expect(fixture.admit(second) == nil)
        fixture.wait(10)
        #expect(fixture.push(second, 200) == .judge)
        #expect(fixture.breakers.areAllClosed)
    }

    @Test func anUnknownOutcomeProvesNothing() {
        let fixture = Fixture()
        for reason in [UnknownReason.timedOut, .connectionLost] {
            guard let pass = fixture.admit(first) else { return #expect(Bool(false)) }
            #expect(fixture.record(.unknown(reason), pass) == .judge)
        }
        #expect(fixture.breakers.areAllClosed && fixture.takeChanges().isEmpty)
    }
}
