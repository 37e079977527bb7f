import APNS
import APNSProtocol
import Crypto
import EventLoop
import Testing

@testable import Delivery

/// Two endpoints; pools 0 and 1 with two keys at the first, pool 2 at the second.
@Suite struct BreakerSetTests {
    private final class Scene {
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

        /// Admits and answers at once.
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

    @Test func aRefusedKeyHoldsUpItsOwnRoutesAlone() {
        let scene = Scene()
        guard case .hold(let cause)? = scene.push(first, 403, .invalidProviderToken) else {
            return #expect(Bool(false), "not held")
        }
        #expect(cause.code == "InvalidProviderToken")
        #expect(scene.admit(first) == nil && scene.admit(otherTopic) == nil)
        #expect(scene.admit(second) != nil && scene.admit(third) != nil)
        #expect(scene.takeChanges() == [.opened(.credential(pool: 0), cause)])
    }

    @Test func pushesThatWereRefusedTogetherOpenItOnce() {
        let scene = Scene()
        let together = [scene.admit(first), scene.admit(first)].compactMap { $0 }
        for pass in together { scene.record(scene.answer(403, .invalidProviderToken), pass) }
        #expect(scene.takeChanges().count == 1)
        scene.wait(5)
        #expect(scene.push(first, 200) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func oneMessageProbesAfterGrowingWaits() {
        let scene = Scene()
        _ = scene.push(first, 403, .invalidProviderToken)
        scene.wait(4)
        #expect(scene.admit(first) == nil)
        for seconds in [1, 5, 10, 20, 30, 30, 30] as [Int64] {
            scene.wait(seconds)
            guard let probe = scene.admit(first) else { return #expect(Bool(false), "no probe after \(seconds) s") }
            #expect(probe.isProbe && !probe.needsFreshConnection)
            #expect(scene.admit(first) == nil, "one at a time")
            scene.wait(1)
            scene.record(scene.answer(403, .invalidProviderToken), probe)
            #expect(scene.admit(first) == nil)
        }
    }

    @Test func theNextProbeWaitsForHalfTheSpanToAllOfIt() {
        let now = MonotonicTime(nanoseconds: 0)
        let waits = (0...5001 as ClosedRange<UInt64>).map { random in
            var breaker = Breaker()
            _ = breaker.open(HoldReason("x", ""), .byMessage, now)
            breaker.probeFailed(now, random: random)
            return breaker.opening.map { now.duration(to: $0.nextProbe) }
        }
        #expect(waits.compactMap(\.self).min() == .seconds(5) && waits.compactMap(\.self).max() == .seconds(10))
    }

    /// All apps wait for it, and its answers show that nothing was pushed.
    @Test func anEndpointThatAnswersIsProbedEveryTenSecondsAtLeast() {
        let scene = Scene()
        for number in 0..<EndpointEvidence.messagesMin { _ = scene.push(first, 500, connection: number) }
        for _ in 0..<5 {
            scene.wait(10)
            guard let probe = scene.admit(first), probe.isProbe else { return #expect(Bool(false), "no probe") }
            // The longest wait that can be drawn.
            scene.record(scene.answer(500), probe, random: 10_000 / 2)
        }
    }

    @Test func anOpenOneSaysWhatItWasLastOpenedFor() {
        let (scene, first, last) = (Scene(), HoldReason("unreachable", ""), HoldReason("certificate", ""))
        for cause in [first, last] { scene.breakers.cannotConnect(0, isAlone: false, cause, scene.now) }
        #expect(scene.breakers.opening(at: .endpoint(0))?.cause == last)
        #expect(scene.takeChanges() == [.opened(.endpoint(0), first)])
    }

    @Test(arguments: [0, 1] as [Int64])
    func itClosesAtTheFirstGoodAnswerToWhatBeganAfterItOpened(secondsBefore: Int64) {
        let scene = Scene()
        guard let before = scene.admit(first) else { return #expect(Bool(false)) }
        scene.wait(secondsBefore)
        _ = scene.push(first, 403, .invalidProviderToken)
        scene.record(scene.answer(200), before)
        #expect(scene.admit(first) == nil, "what was sent before says nothing of the time since")
        scene.wait(5)
        #expect(scene.push(first, 200) == .judge)
        #expect(scene.admit(first)?.isProbe == false)
        #expect(scene.breakers.areAllClosed)
    }

    /// It began before that, as a probe of something else.
    @Test func aProbeSaysNothingOfWhatWasHeldUpAfterIt() {
        let scene = Scene()
        for number in 0..<EndpointEvidence.messagesMin { _ = scene.push(first, 500, connection: number) }
        scene.wait(5)
        guard let probe = scene.admit(first), probe.isProbe else { return #expect(Bool(false), "no probe") }
        scene.wait(1)
        let refusal = HoldReason(.handshake("revoked"))
        scene.breakers.refused(0, refusal, scene.now)
        scene.record(scene.answer(200), probe)
        #expect(scene.breakers.openings.map(\.scope) == [.credential(pool: 0)])
    }

    @Test(arguments: [Reason?.none, .forbidden, .unknown("NewReason")])
    func aRefusalThatMayBeOfTheKeyDoesNotShowThatItHolds(reason: Reason?) {
        let scene = Scene()
        _ = scene.push(first, 403, .invalidProviderToken)
        scene.wait(5)
        #expect(scene.push(first, 403, reason) == .judge)
        #expect(scene.breakers.openings.map(\.scope) == [.credential(pool: 0)])
        #expect(scene.push(first, 200) == .judge, "the next may try")
        #expect(scene.breakers.areAllClosed)
    }

    @Test func aRefusalOfTheMessageShowsThatTheKeyHolds() {
        let scene = Scene()
        _ = scene.push(first, 403, .invalidProviderToken)
        scene.wait(5)
        #expect(scene.push(first, 400, .badDeviceToken) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func aProbeWithoutAnAnswerLetsTheNextTry() {
        let scene = Scene()
        _ = scene.push(first, 403, .invalidProviderToken)
        scene.wait(5)
        guard let probe = scene.admit(first) else { return #expect(Bool(false)) }
        #expect(scene.record(.notSent(.expired), probe) == .judge)
        #expect(scene.admit(first)?.isProbe == true)
    }

    @Test func whatWasSentBeforeSaysNothingOfTheProbe() {
        let scene = Scene()
        guard let before = scene.admit(first) else { return #expect(Bool(false)) }
        scene.wait(1)
        _ = scene.push(first, 403, .invalidProviderToken)
        scene.wait(5)
        #expect(scene.admit(first)?.isProbe == true)
        scene.record(.unknown(.timedOut), before)
        #expect(scene.admit(first) == nil, "one at a time")
    }

    @Test func aTopicThatAFreshConnectionTakesIsHeldNoLonger() {
        let scene = Scene()
        guard case .sendAgain(let again)? = scene.push(first, 400, .topicDisallowed) else {
            return #expect(Bool(false), "not tried again")
        }
        #expect(scene.record(scene.answer(200), again) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func aTopicIsTriedOnceOnAFreshConnectionAndThenHeldByItself() {
        let scene = Scene()
        guard case .sendAgain(let again)? = scene.push(first, 400, .topicDisallowed) else {
            return #expect(Bool(false), "not tried again")
        }
        #expect(again.needsFreshConnection && again.isProbe)
        #expect(scene.admit(first) == nil, "meanwhile")
        #expect(scene.admit(otherTopic) != nil)
        guard case .hold(let cause) = scene.record(scene.answer(400, .topicDisallowed), again) else {
            return #expect(Bool(false), "not held")
        }
        #expect(cause.code == "TopicDisallowed")
        #expect(scene.admit(first) == nil && scene.admit(otherTopic) != nil)
        scene.wait(60)
        guard let probe = scene.admit(first) else { return #expect(Bool(false), "no probe") }
        #expect(probe.needsFreshConnection)
        #expect(scene.record(scene.answer(200), probe) == .judge)
        #expect(scene.breakers.areAllClosed && scene.admit(first)?.needsFreshConnection == false)
    }

    @Test func aProbeThatIsOvertakenIsNotTriedAgain() {
        let scene = Scene()
        guard case .sendAgain(let again)? = scene.push(first, 400, .topicDisallowed) else {
            return #expect(Bool(false), "not tried again")
        }
        let early = AdmittedPush(route: first, begunAt: scene.now, isProbe: true)
        #expect(scene.record(scene.answer(200), early) == .judge)
        #expect(scene.breakers.areAllClosed)
        guard case .hold = scene.record(scene.answer(400, .topicDisallowed), again) else {
            return #expect(Bool(false), "not held")
        }
    }

    @Test func oneMessageOrOneConnectionIsNoEvidenceAgainstAnEndpoint() {
        let scene = Scene()
        guard let pass = scene.admit(first) else { return #expect(Bool(false)) }
        for connection in 0..<10 {
            let answer = scene.answer(500, .internalServerError, connection: connection)
            #expect(
                scene.breakers.record(answer, of: UUIDValue(high: 1, low: 1), pass, scene.now, random: 0) == .judge)
        }
        for _ in 0..<10 { #expect(scene.push(third, 500, .internalServerError, connection: 1) == .judge) }
        #expect(scene.breakers.areAllClosed)
    }

    @Test func fiveMessagesOverTwoConnectionsAreUnlessOneSucceedsBetween() {
        let scene = Scene()
        for connection in [0, 1, 0, 1] { #expect(scene.push(first, 503, .shutdown, connection: connection) == .judge) }
        #expect(scene.breakers.areAllClosed, "a server that goes down is one")
        for connection in [0, 1, 0, 1] {
            #expect(scene.push(first, 500, .internalServerError, connection: connection) == .judge)
        }
        #expect(scene.push(second, 200) == .judge)
        for connection in [0, 1, 0, 1] {
            #expect(scene.push(first, 500, .internalServerError, connection: connection) == .judge)
        }
        guard case .hold(let cause)? = scene.push(first, 500, .internalServerError, connection: 0) else {
            return #expect(Bool(false), "not held")
        }
        #expect(cause.code == "failing")
        #expect(scene.admit(second) == nil, "the same endpoint")
        #expect(scene.admit(third) != nil)
        scene.wait(5)
        #expect(scene.push(second, 200) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func whatWasSeenBeforeAConnectionStoodIsNoEvidence() {
        let scene = Scene()
        for connection in [0, 1, 0, 1] {
            #expect(scene.push(first, 500, .internalServerError, connection: connection) == .judge)
        }
        scene.breakers.cannotConnect(0, isAlone: false, HoldReason("unreachable", "nobody is there"), scene.now)
        scene.breakers.connected(0)
        #expect(scene.push(first, 500, .internalServerError) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func aProxysPageCountsAsTheEndpointsFailure() {
        let scene = Scene()
        for number in 0..<5 {
            guard let pass = scene.admit(first) else { return #expect(Bool(false), "held too soon") }
            let page = scene.answer(403, .unknown("<html>"), connection: number, isFromAPNS: false)
            let consequence = scene.record(page, pass)
            #expect((consequence == .judge) == (number < 4))
        }
        #expect(scene.admit(second) == nil)
    }

    @Test func anUnreachableEndpointIsHeldUntilAConnectionStands() {
        let scene = Scene()
        scene.breakers.cannotConnect(1, isAlone: false, HoldReason("unreachable", "nobody is there"), scene.now)
        scene.wait(3600)
        #expect(scene.admit(first) == nil, "no message probes it")
        #expect(scene.admit(third) != nil)
        scene.breakers.connected(2)
        #expect(scene.admit(first) == nil)
        scene.breakers.connected(0)
        #expect(scene.admit(first) != nil)
        guard case .closed(.endpoint(0), let opening)? = scene.takeChanges().last else {
            return #expect(Bool(false), "not told")
        }
        #expect(opening.since.duration(to: scene.now) == .seconds(3600))
    }

    @Test func aCredentialThatAloneCannotConnectIsHeldAlone() {
        let scene = Scene()
        scene.breakers.cannotConnect(1, isAlone: true, HoldReason("unreachable", "it is not let in"), scene.now)
        #expect(scene.admit(second) == nil && scene.breakers.awaitsConnection(1))
        #expect(scene.admit(first) != nil && !scene.breakers.awaitsConnection(0), "the same endpoint")
        scene.breakers.connected(0)
        #expect(scene.admit(second) == nil)
        scene.breakers.connected(1)
        #expect(scene.breakers.areAllClosed && !scene.breakers.awaitsConnection(1))
    }

    @Test func aRefusedCredentialIsNotTakenForOneThatOnlyCannotConnect() {
        let scene = Scene()
        let (refused, silent) = (HoldReason("BadCertificate", "no"), HoldReason("unreachable", "it is not let in"))
        scene.breakers.refused(1, refused, scene.now)
        scene.breakers.cannotConnect(1, isAlone: true, silent, scene.now)
        scene.breakers.connected(1)
        #expect(scene.breakers.opening(at: .credential(pool: 1))?.cause == refused)
    }

    @Test func aCredentialThatCouldNotConnectAndIsRefusedNowIsNews() {
        let scene = Scene()
        let (refused, silent) = (HoldReason("BadCertificate", "no"), HoldReason("unreachable", "it is not let in"))
        scene.breakers.cannotConnect(1, isAlone: true, silent, scene.now)
        scene.breakers.refused(1, refused, scene.now)
        scene.breakers.refused(1, refused, scene.now)
        let place = BreakerScope.credential(pool: 1)
        #expect(scene.takeChanges() == [.opened(place, silent), .opened(place, refused)])
        scene.wait(5)
        #expect(scene.push(second, 200) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func devicesThatAreGoneHoldUpNothing() {
        let scene = Scene()
        for number in 0..<1000 { #expect(scene.push(first, 410, .unregistered, connection: number % 2) == .judge) }
        #expect(scene.breakers.areAllClosed && scene.takeChanges() == [])
    }

    @Test func aRefusalShowsThatTheEndpointIsThere() {
        let scene = Scene()
        scene.breakers.cannotConnect(0, isAlone: false, HoldReason("unreachable", "nobody is there"), scene.now)
        let refusal = HoldReason(.handshake("revoked"))
        scene.breakers.refused(1, refusal, scene.now)
        #expect(scene.admit(first) != nil)
        #expect(scene.breakers.opening(at: .credential(pool: 1))?.cause == refusal)
        scene.wait(5)
        guard let probe = scene.admit(second) else { return #expect(Bool(false), "no message probes it") }
        #expect(scene.record(.notSent(.certificateRefused(.handshake("revoked"))), probe) == .hold(refusal))
        scene.wait(10)
        #expect(scene.push(second, 200) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func aRefusedCertificateSaysNothingOfAnEndpointThatFails() {
        let scene = Scene()
        for number in 0..<5 { _ = scene.push(first, 500, connection: number) }
        scene.wait(5)
        guard let probe = scene.admit(second) else { return #expect(Bool(false), "no message probes it") }
        _ = scene.record(.notSent(.certificateRefused(.handshake("revoked"))), probe)
        #expect(scene.breakers.opening(at: .endpoint(0)) != nil)
    }

    /// A server that takes connections, and ends them or says nothing.
    @Test func anEndpointThatNeverAnswersIsHeldThoughItsConnectionsStand() {
        let scene = Scene()
        for number in 1...EndpointEvidence.messagesMin {
            guard let pass = scene.admit(first) else { return #expect(Bool(false), "held after \(number - 1)") }
            let outcome = PushOutcome.unknown(.timedOut, silentConnection: number)
            #expect(scene.record(outcome, pass) == .judge, "it may have been sent")
        }
        #expect(scene.admit(first) == nil)
        scene.wait(5)
        guard let probe = scene.admit(first) else { return #expect(Bool(false), "no message probes it") }
        scene.record(.unknown(.timedOut, silentConnection: 9), probe)
        #expect(scene.admit(first) == nil)
        scene.wait(10)
        #expect(scene.push(first, 200) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func anEndpointWhoseConnectionsEndIsProbedByAMessage() {
        let scene = Scene()
        let cause = HoldReason(endedUnanswered: TransportError(.reset, "reset"))
        for _ in 0..<2 { scene.breakers.endedUnanswered(2, cause, scene.now) }
        #expect(scene.takeChanges() == [.opened(.endpoint(1), cause)] && cause.code == "unanswered")
        #expect(scene.admit(third) == nil && scene.admit(first) != nil && scene.admit(second) != nil)
        scene.breakers.connected(2)
        #expect(scene.admit(third) == nil, "that one connects shows nothing")
        var waits: [Int64] = [5, 5, 10, 20, 30]
        for outcome in [
            PushOutcome.unknown(.connectionLost, silentConnection: 4), .notSent(.refused), .notSent(.noConnection),
            .notSent(.notWritten(silentConnection: nil)),
        ] {
            scene.wait(waits.removeFirst())
            guard let probe = scene.admit(third), probe.isProbe else { return #expect(Bool(false), "\(outcome)") }
            scene.record(outcome, probe)
            #expect(scene.admit(third) == nil, "the next waits longer after \(outcome)")
        }
        scene.wait(waits.removeFirst())
        #expect(scene.push(third, 200) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func anEndpointIsBlamedOnceEachOfItsCredentialsIs() {
        let scene = Scene()
        let cause = HoldReason(endedUnanswered: TransportError(.reset, "reset"))
        for pool in [0, 0, 1] { scene.breakers.endedUnanswered(pool, cause, scene.now) }
        #expect(scene.takeChanges() == [.opened(.credential(pool: 0), cause), .opened(.endpoint(0), cause)])
    }

    @Test func aCredentialWhoseConnectionsEndAloneIsHeldAlone() {
        let scene = Scene()
        let cause = HoldReason(endedUnanswered: TransportError(.reset, "reset"))
        scene.breakers.endedUnanswered(1, cause, scene.now)
        #expect(scene.admit(second) == nil && scene.admit(first) != nil && !scene.breakers.awaitsConnection(1))
        scene.breakers.connected(1)
        #expect(scene.push(first, 200) == .judge && scene.admit(second) == nil)
        scene.wait(5)
        guard let probe = scene.admit(second) else { return #expect(Bool(false), "no message probes it") }
        #expect(scene.record(.notSent(.noConnection), probe) == .hold(cause))
        #expect(scene.admit(second) == nil)
        scene.wait(10)
        #expect(scene.push(second, 200) == .judge)
        #expect(scene.breakers.areAllClosed)
    }

    @Test func anOutcomeThatNobodyKnowsSaysNothing() {
        let scene = Scene()
        for reason in [UnknownReason.timedOut, .connectionLost] {
            guard let pass = scene.admit(first) else { return #expect(Bool(false)) }
            #expect(scene.record(.unknown(reason), pass) == .judge)
        }
        #expect(scene.breakers.areAllClosed && scene.takeChanges().isEmpty)
    }
}
