import EventLoop
import Testing

@testable import APNS

/// Whom a pool tells what became of a push, without a task that waits.
@Suite struct PushReceiverTests {
    private static let count = 100

    /// Pushes one more whenever it is told, until it has pushed so many.
    private final class Repeater: PushReceiver {
        private let pool: APNSPool
        private let request: (Int) -> APNSRequest
        private(set) var outcomes: [PushOutcome] = []
        private(set) var isToldWithinACall = false
        private var isCalling = false
        private var sent = 0
        /// What else it does, first, whenever it is told.
        var whenTold: (APNSPool) -> Void = { _ in }

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
            if isCalling { isToldWithinACall = true }
            whenTold(pool)
            outcomes.append(outcome)
            if sent < PushReceiverTests.count { push() }
        }
    }

    /// - Returns: what is told, of ten pushes and those that follow.
    private func told(
        _ harness: PoolHarness, _ request: @escaping (Int) -> APNSRequest = { PoolHarness.request($0) },
        meanwhile: @escaping (Repeater) -> Void = { _ in }
    ) -> [PushOutcome] {
        // The loop runs on the test's own thread.
        nonisolated(unsafe) var repeater: Repeater?
        // Called on it, before this returns.
        nonisolated(unsafe) let (request, meanwhile) = (request, meanwhile)
        harness.withPool { pool in
            let first = Repeater(pool, request)
            for _ in 0..<10 { first.push() }
            meanwhile(first)
            repeater = first
        }
        #expect(harness.run { repeater?.outcomes.count == Self.count })
        #expect(repeater?.isToldWithinACall == false)
        return repeater?.outcomes ?? []
    }

    @Test func aReceiverOfAnAnswerMayPush() throws {
        let harness = try PoolHarness()
        let outcomes = told(harness)
        #expect(harness.apns.requests.count == Self.count)
        #expect(outcomes.allSatisfy { if case .answered(let answer) = $0 { answer.status == 200 } else { false } })
    }

    /// No frames are being read meanwhile.
    @Test func aReceiverOfAnAnswerMayCloseThePool() throws {
        let harness = try PoolHarness()
        let outcomes = told(harness, meanwhile: { $0.whenTold = { $0.close() } })
        #expect(outcomes.count { if case .answered = $0 { true } else { false } } == 1)
    }

    /// What is known within the call is told after it.
    @Test func aReceiverOfAnUnsentPushMayPush() throws {
        let harness = try PoolHarness()
        let outcomes = told(harness) { PoolHarness.request($0, topic: "no\ntopic") }
        #expect(outcomes.allSatisfy { $0 == .notSent(.malformed) })
    }

    enum Ending: CaseIterable { case stopAccepting, failWaiting, close }

    /// Those that wait for the first connection, and those that are pushed when they are told.
    @Test(arguments: Ending.allCases) func aReceiverOfAFailedWaitingPushMayPush(ending: Ending) throws {
        let harness = try PoolHarness()
        let outcomes = told(
            harness,
            meanwhile: { repeater in
                repeater.call { pool in
                    switch ending {
                    case .stopAccepting: pool.stopAccepting()
                    case .failWaiting: pool.failWaiting()
                    case .close: pool.close()
                    }
                }
            })
        let isGivenBack = outcomes.map { if case .notSent = $0 { true } else { false } }
        #expect(isGivenBack.count { $0 } == (ending == .failWaiting ? 10 : Self.count))
    }

    @Test func aReceiverIsRetainedUntilItIsNotified() throws {
        let harness = try PoolHarness()
        // The loop runs on the test's own thread.
        nonisolated(unsafe) weak var held: Repeater?
        harness.withPool { pool in
            let repeater = Repeater(pool)
            for _ in 0..<Self.count { repeater.push() }
            held = repeater
        }
        #expect(held != nil)
        #expect(harness.run(.seconds(1)) { held == nil })
    }
}
