import APNSProtocol
import EventLoop
import Testing

@testable import APNS

/// A pool whose provider tokens are signed elsewhere, for all pools of a key at once.
@Suite struct TokenSupplyTests {
    /// Signs when the test says so.
    private final class Office: @unchecked Sendable {
        private(set) var tokens: [ProviderToken] = []
        private(set) var refusals: [TokenRefusal] = []

        func sign(_ now: Now) throws -> ProviderToken {
            tokens.append(try ProviderToken(key: PoolRig.key, generation: tokens.count + 1, now: now))
            return tokens[tokens.count - 1]
        }

        func supply(_ now: Now) throws -> TokenSupply {
            TokenSupply(first: try sign(now)) { self.refusals.append($0) }
        }

        /// What APNs is shown of a token.
        func number(of authorization: String?) -> Int? {
            tokens.firstIndex { String(decoding: $0.authorization, as: UTF8.self) == authorization }.map { $0 + 1 }
        }
    }

    private let office = Office()
    private let rig: PoolRig

    init() throws {
        rig = try PoolRig(tokens: office.supply(VirtualLoop(seed: 1).now))
        rig.apns.onRequest = { connection, stream in connection.accept(stream) }
    }

    private var tokensSeen: [Int?] { rig.apns.requests.map { office.number(of: $0["authorization"]) } }

    private func take(_ news: TokenNews) { rig.withPool { $0.take(news) } }

    private func refuseTheFirst(_ reason: String) {
        rig.apns.onRequest = { [office] connection, stream in
            if office.number(of: connection.request(stream)?["authorization"]) == 1 {
                connection.answer(stream, 403, #"{"reason":"\#(reason)"}"#)
            } else {
                connection.accept(stream)
            }
        }
    }

    @Test func itSendsWhatItIsHandedAndSignsNothing() throws {
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.pass(.seconds(28 * 60))
        rig.send()
        #expect(rig.runUntilEnded(2))
        take(.newest(try office.sign(rig.loop.now)))
        rig.send()
        #expect(rig.runUntilEnded(3))
        #expect(tokensSeen == [1, 1, 2])
        rig.pass(.seconds(19 * 60))
        take(.newest(try office.sign(rig.loop.now)))
        rig.send()
        #expect(rig.runUntilEnded(4))
        rig.pass(.seconds(60))
        rig.send()
        #expect(rig.runUntilEnded(5))
        #expect(tokensSeen == [1, 1, 2, 2, 3], "a connection keeps its token for 20 minutes")
        #expect(rig.apns.connections.count == 1)
    }

    @Test(arguments: ["ExpiredProviderToken", "InvalidProviderToken"])
    func refusedPushesAreSentAgainWithTheNewOne(reason: String) throws {
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.pass(.seconds(60))
        refuseTheFirst(reason)
        rig.send(5)
        #expect(rig.run(until: { office.refusals.count == 1 && rig.apns.requests.count == 6 }))
        #expect(rig.ended.count == 1, "what becomes of them is open")
        take(.newest(try office.sign(rig.loop.now)))
        #expect(rig.runUntilEnded(6))
        #expect((0..<6).allSatisfy(rig.isAccepted))
        #expect(
            office.refusals == [TokenRefusal(kind: reason.hasPrefix("E") ? .expired : .invalid, generation: 1)],
            "asked once")
    }

    @Test func whatIsRefusedWhereThereIsNothingNewerEnds() throws {
        refuseTheFirst("InvalidProviderToken")
        rig.send(3)
        for ended in 1...3 {
            #expect(rig.run(until: { office.refusals.count == ended }))
            take(.nothingNewer(than: 1))
            #expect(rig.runUntilEnded(ended))
        }
        #expect(rig.answers.map(\.reason) == Array(repeating: .invalidProviderToken, count: 3))
    }

    /// Time since boot goes on while the machine is suspended.
    private func suspend() { rig.loop.now.sinceBoot = rig.loop.now.sinceBoot + .seconds(3600) }

    @Test func aTokenThatIsTooOldAfterASuspensionIsReplacedBeforeAnythingIsSent() throws {
        rig.send()
        #expect(rig.runUntilEnded(1))
        suspend()
        rig.send(5)
        rig.send(onFreshConnection: true)
        rig.pass(.seconds(1))
        #expect(office.refusals == [TokenRefusal(kind: .expired, generation: 1)], "asked once")
        #expect(rig.ended.count == 1 && rig.withPool { $0.waitingCount } == 6)
        take(.newest(try office.sign(rig.loop.now)))
        #expect(rig.runUntilEnded(7))
        #expect((0..<7).allSatisfy(rig.isAccepted) && Set(tokensSeen) == [1, 2])
        #expect(rig.withPool { $0.waitingCount } == 0)
    }

    @Test func whereNobodyAnswersPushesWaitForATokenSoLongOnly() throws {
        rig.send()
        #expect(rig.runUntilEnded(1))
        suspend()
        rig.send(3)
        let began = rig.loop.now.monotonic
        #expect(rig.runUntilEnded(4))
        let waited = began.duration(to: rig.loop.now.monotonic)
        #expect(waited >= .seconds(5) && waited <= .seconds(6))
        #expect((1...3).allSatisfy { rig.outcomes[$0] == .notSent(.noToken) })
        rig.send()
        rig.pass(.seconds(1))
        take(.nothingNewer(than: 1))
        #expect(rig.runUntilEnded(5))
        #expect(rig.outcomes[4] == .notSent(.noToken), "none can be signed")
        rig.send()
        rig.pass(.seconds(1))
        rig.withPool { $0.stopAccepting() }
        #expect(rig.runUntilEnded(6))
        #expect(rig.outcomes[5] == .notSent(.draining))
    }

    /// `TooManyProviderTokenUpdates` goes away with the connection; a new token would make it worse.
    @Test func tooManyTokensAreNoReasonForAnother() throws {
        rig.apns.onRequest = { [unowned rig] connection, stream in
            if connection === rig.apns.connections[0] {
                connection.answer(stream, 429, #"{"reason":"TooManyProviderTokenUpdates"}"#)
            } else {
                connection.accept(stream)
            }
        }
        for ended in 1...2 {
            rig.send()
            #expect(rig.runUntilEnded(ended))
        }
        #expect(rig.answers.map(\.reason) == [.tooManyProviderTokenUpdates, nil] && rig.isAccepted(1))
        #expect(rig.apns.connections.count == 2)
        #expect(tokensSeen == [1, 1] && office.refusals.isEmpty)
    }

    @Test func whatIsRefusedEndsWithThePoolWhereNobodyAnswers() throws {
        refuseTheFirst("ExpiredProviderToken")
        rig.send()
        #expect(rig.run(until: { office.refusals.count == 1 }))
        rig.withPool { $0.close() }
        #expect(rig.runUntilEnded(1))
        #expect(rig.answers.map(\.reason) == [.expiredProviderToken])
    }

    @Test func aTokenThatHasGrownTooOldIsNotSent() throws {
        rig.pass(.seconds(57 * 60))
        rig.send()
        #expect(rig.runUntilEnded(1))
        #expect(rig.outcomes[0] == .notSent(.noToken))
        take(.newest(try ProviderToken(key: PoolRig.key, generation: 2, now: rig.loop.now)))
        rig.send()
        #expect(rig.runUntilEnded(2))
        #expect(rig.isAccepted(1))
    }
}
