import EventLoop
import Testing

@testable import APNS

/// Tests of receivers of push outcomes, without a waiting task.
@Suite struct PushReceiverTests {
    private static let count = 100

    /// A receiver that sends another push with each outcome, up to a limit.
    private final class Repeater: PushReceiver {
        private let pool: APNSPool
        private let request: (Int) -> APNSRequest
        private(set) var outcomes: [PushOutcome] = []
        private(set) var isNotifiedWithinCall = false
        private var isCalling = false
        private var sent = 0
        /// A closure that is called for each outcome, before the next push.
        var onOutcome: (APNSPool) -> Void = { _ in }

        init(_ pool: APNSPool, _ request: @escaping (Int) -> APNSRequest = { PoolHarness.request($0) }) {
            (self.pool, self.request) = (pool, request)
        }

        func push() {
            sent += 1
            call { $0.send(request(sent), priority: 0, onFreshConnection: false, timing: nil, self) }
        }

        func call(_ body: (APNSPool) -> Void) {
            isCalling = true
            body(pool)
            isCalling = false
        }

        func pushed(_ outcome: PushOutcome) {
            if isCalling { isNotifiedWithinCall = true }
            onOutcome(pool)
            outcomes.append(outcome)
            if sent < PushReceiverTests.count { push() }
        }
    }

    /// Returns the outcomes of ten pushes and of the pushes that their receiver sends.
    private func outcomes(
        of harness: PoolHarness, _ request: @escaping (Int) -> APNSRequest = { PoolHarness.request($0) },
        whileWaiting: @escaping (Repeater) -> Void = { _ in }
    ) -> [PushOutcome] {
        // The loop runs on the test's thread.
        nonisolated(unsafe) var repeater: Repeater?
        // The closures are called on the test's thread, before this function returns.
        nonisolated(unsafe) let (request, whileWaiting) = (request, whileWaiting)
        harness.withPool { pool in
            let first = Repeater(pool, request)
            for _ in 0..<10 { first.push() }
            whileWaiting(first)
            repeater = first
        }
        #expect(harness.run { repeater?.outcomes.count == Self.count })
        #expect(repeater?.isNotifiedWithinCall == false)
        return repeater?.outcomes ?? []
    }

    @Test func aReceiverOfAnAnswerMayPush() throws {
        let harness = try PoolHarness()
        let outcomes = self.outcomes(of: harness)
        #expect(harness.apns.requests.count == Self.count)
        #expect(outcomes.allSatisfy { if case .answered(let answer) = $0 { answer.status == 200 } else { false } })
    }

    // No frames are being parsed while a receiver runs.
    @Test func aReceiverOfAnAnswerMayCloseThePool() throws {
        let harness = try PoolHarness()
        let outcomes = self.outcomes(of: harness, whileWaiting: { $0.onOutcome = { $0.close() } })
        #expect(outcomes.count { if case .answered = $0 { true } else { false } } == 1)
    }

    // An outcome that is known within the call is passed to the receiver after the call.
    @Test func aReceiverOfAnUnsentPushMayPush() throws {
        let harness = try PoolHarness()
        let outcomes = self.outcomes(of: harness) { PoolHarness.request($0, topic: "no\ntopic") }
        #expect(outcomes.allSatisfy { $0 == .notSent(.malformed) })
    }

    enum Ending: CaseIterable { case stopAccepting, failWaiting, close }

    // The test covers pushes that wait for the first connection, and pushes that receivers send.
    @Test(arguments: Ending.allCases) func aReceiverOfAFailedWaitingPushMayPush(ending: Ending) throws {
        let harness = try PoolHarness()
        let outcomes = self.outcomes(
            of: harness,
            whileWaiting: { repeater in
                repeater.call { pool in
                    switch ending {
                    case .stopAccepting: pool.stopAccepting()
                    case .failWaiting: pool.failWaiting()
                    case .close: pool.close()
                    }
                }
            })
        let isUnsent = outcomes.map { if case .notSent = $0 { true } else { false } }
        #expect(isUnsent.count { $0 } == (ending == .failWaiting ? 10 : Self.count))
    }

    @Test func aReceiverIsRetainedUntilItIsNotified() throws {
        let harness = try PoolHarness()
        // The loop runs on the test's thread.
        nonisolated(unsafe) weak var weakRepeater: Repeater?
        harness.withPool { pool in
            let repeater = Repeater(pool)
            for _ in 0..<Self.count { repeater.push() }
            weakRepeater = repeater
        }
        #expect(weakRepeater != nil)
        #expect(harness.run(.seconds(1)) { weakRepeater == nil })
    }
}
