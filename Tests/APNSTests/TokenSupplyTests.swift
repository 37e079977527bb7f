import APNSProtocol
import EventLoop
import Testing

@testable import APNS

/// Tests of a pool that receives its tokens from a ``TokenSupply``.
@Suite struct TokenSupplyTests {
    /// A signer that creates tokens when the test calls it.
    private final class TokenSigner: @unchecked Sendable {
        private(set) var tokens: [ProviderToken] = []
        private(set) var refusals: [TokenRefusal] = []

        func sign(_ now: Now) throws -> ProviderToken {
            tokens.append(try ProviderToken(key: PoolHarness.key, generation: tokens.count + 1, now: now))
            return tokens[tokens.count - 1]
        }

        func supply(_ now: Now) throws -> TokenSupply {
            TokenSupply(first: try sign(now)) { self.refusals.append($0) }
        }

        /// Returns the number of the token in an `authorization` header; nil if the signer did not create the token.
        func number(of authorization: String?) -> Int? {
            tokens.firstIndex { String(decoding: $0.authorization, as: UTF8.self) == authorization }.map { $0 + 1 }
        }
    }

    private let signer = TokenSigner()
    private let harness: PoolHarness

    init() throws {
        harness = try PoolHarness(tokens: signer.supply(VirtualLoop(seed: 1).now))
        harness.apns.onRequest = { connection, stream in connection.accept(stream) }
    }

    private var tokensSeen: [Int?] { harness.apns.requests.map { signer.number(of: $0["authorization"]) } }

    private func apply(_ update: ProviderTokenUpdate) { harness.withPool { $0.apply(update) } }

    private func refuseTheFirst(_ reason: String) {
        harness.apns.onRequest = { [signer] connection, stream in
            if signer.number(of: connection.request(stream)?["authorization"]) == 1 {
                connection.answer(stream, 403, #"{"reason":"\#(reason)"}"#)
            } else {
                connection.accept(stream)
            }
        }
    }

    @Test func aPoolThatSignsItsTokensRequestsNone() throws {
        let now = harness.loop.now
        var signing = PoolTokens(PoolHarness.key, .init(), nil)
        let own = signing.usable(now) { 0 }
        let requestsOwn = signing.requestNewer()
        #expect(own != nil && !requestsOwn)
        var supplied = PoolTokens(PoolHarness.key, .init(), try signer.supply(now))
        let requests = (0..<2).map { _ in supplied.requestNewer() }
        #expect(requests == [true, true] && signer.refusals.count == 1, "the token was not requested exactly once")
    }

    @Test func sendsSuppliedTokensAndSignsNone() throws {
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.pass(.seconds(28 * 60))
        harness.send()
        #expect(harness.runUntilEnded(2))
        apply(.newest(try signer.sign(harness.loop.now)))
        harness.send()
        #expect(harness.runUntilEnded(3))
        #expect(tokensSeen == [1, 1, 2])
        harness.pass(.seconds(19 * 60))
        apply(.newest(try signer.sign(harness.loop.now)))
        harness.send()
        #expect(harness.runUntilEnded(4))
        harness.pass(.seconds(60))
        harness.send()
        #expect(harness.runUntilEnded(5))
        #expect(tokensSeen == [1, 1, 2, 2, 3], "a connection changed its token within 20 minutes")
        #expect(harness.apns.connections.count == 1)
    }

    @Test(arguments: ["ExpiredProviderToken", "InvalidProviderToken"])
    func refusedPushesAreSentAgainWithTheNewToken(reason: String) throws {
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.pass(.seconds(60))
        refuseTheFirst(reason)
        harness.send(5)
        #expect(harness.run(until: { signer.refusals.count == 1 && harness.apns.requests.count == 6 }))
        #expect(harness.ended.count == 1, "another push has an outcome already")
        apply(.newest(try signer.sign(harness.loop.now)))
        #expect(harness.runUntilEnded(6))
        #expect((0..<6).allSatisfy(harness.isAccepted))
        #expect(
            signer.refusals == [TokenRefusal(kind: reason.hasPrefix("E") ? .expired : .invalid, generation: 1)],
            "requested once")
    }

    @Test func refusedPushesCompleteIfNoNewerTokenExists() throws {
        refuseTheFirst("InvalidProviderToken")
        harness.send(3)
        for ended in 1...3 {
            #expect(harness.run(until: { signer.refusals.count == ended }))
            apply(.nothingNewer(than: 1))
            #expect(harness.runUntilEnded(ended))
        }
        #expect(harness.answers.map(\.reason) == Array(repeating: .invalidProviderToken, count: 3))
    }

    /// Advances the time since boot by an hour, as during a suspend of the machine.
    private func suspend() { harness.loop.now.sinceBoot = harness.loop.now.sinceBoot + .seconds(3600) }

    @Test func anOldTokenIsReplacedAfterASuspendBeforeAnyPush() throws {
        harness.send()
        #expect(harness.runUntilEnded(1))
        suspend()
        harness.send(5)
        harness.send(onFreshConnection: true)
        harness.pass(.seconds(1))
        #expect(
            signer.refusals == [TokenRefusal(kind: .expired, generation: 1)], "the token was not requested exactly once"
        )
        #expect(harness.ended.count == 1 && harness.withPool { $0.waitingCount } == 6)
        apply(.newest(try signer.sign(harness.loop.now)))
        #expect(harness.runUntilEnded(7))
        #expect((0..<7).allSatisfy(harness.isAccepted) && Set(tokensSeen) == [1, 2])
        #expect(harness.withPool { $0.waitingCount } == 0)
    }

    @Test func theWaitForATokenIsLimited() throws {
        harness.send()
        #expect(harness.runUntilEnded(1))
        suspend()
        harness.send(3)
        let began = harness.loop.now.monotonic
        #expect(harness.runUntilEnded(4))
        let waited = began.duration(to: harness.loop.now.monotonic)
        #expect(waited >= .seconds(5) && waited <= .seconds(6))
        #expect((1...3).allSatisfy { harness.outcomes[$0] == .notSent(.noToken) })
        harness.send()
        harness.pass(.seconds(1))
        apply(.nothingNewer(than: 1))
        #expect(harness.runUntilEnded(5))
        #expect(harness.outcomes[4] == .notSent(.noToken), "a push without a token has another outcome")
        harness.send()
        harness.pass(.seconds(1))
        harness.withPool { $0.stopAccepting() }
        #expect(harness.runUntilEnded(6))
        #expect(harness.outcomes[5] == .notSent(.draining))
    }

    // A new connection solves `TooManyProviderTokenUpdates`. A new token would cause further refusals of this kind.
    @Test func tooManyTokenUpdatesRequestNoNewToken() throws {
        harness.apns.onRequest = { [unowned harness] connection, stream in
            if connection === harness.apns.connections[0] {
                connection.answer(stream, 429, #"{"reason":"TooManyProviderTokenUpdates"}"#)
            } else {
                connection.accept(stream)
            }
        }
        for ended in 1...2 {
            harness.send()
            #expect(harness.runUntilEnded(ended))
        }
        #expect(harness.answers.map(\.reason) == [.tooManyProviderTokenUpdates, nil] && harness.isAccepted(1))
        #expect(harness.apns.connections.count == 2)
        #expect(tokensSeen == [1, 1] && signer.refusals.isEmpty)
    }

    @Test func refusedPushesCompleteWhenThePoolStops() throws {
        refuseTheFirst("ExpiredProviderToken")
        harness.send()
        #expect(harness.run(until: { signer.refusals.count == 1 }))
        harness.withPool { $0.close() }
        #expect(harness.runUntilEnded(1))
        #expect(harness.answers.map(\.reason) == [.expiredProviderToken])
    }

    @Test func aTokenThatIsTooOldIsNotSent() throws {
        harness.pass(.seconds(57 * 60))
        harness.send()
        #expect(harness.runUntilEnded(1))
        #expect(harness.outcomes[0] == .notSent(.noToken))
        apply(.newest(try ProviderToken(key: PoolHarness.key, generation: 2, now: harness.loop.now)))
        harness.send()
        #expect(harness.runUntilEnded(2))
        #expect(harness.isAccepted(1))
    }
}
