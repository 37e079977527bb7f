import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import JSON
import Testing

@testable import APNS

/// Provider tokens as APNs sees them over hours of virtual time.
@Suite struct TokenRotationTests {
    /// One use of a token: which connection, which token, when.
    private struct Use {
        var connection: Int
        var token: String
        var issuedAt: Int64
        var at: Int64
    }

    /// Lets APNs note every token, and check its age as Apple says.
    private func observe(_ rig: PoolRig, onRequest: @escaping (FakeConnection, HTTP2Stream) -> Void) -> () -> [Use] {
        var uses: [Use] = []
        rig.apns.onRequest = { [unowned rig] connection, stream in
            let token = connection.request(stream)?["authorization"] ?? ""
            let claims = token.split(separator: ".").dropFirst().first.map(String.init).flatMap { Base64URL.decode($0) }
            let issuedAt = claims.flatMap { try? JSONDocument($0).root["iat"]?.int64 } ?? 0
            let index = rig.apns.connections.firstIndex { $0 === connection } ?? -1
            uses.append(
                Use(connection: index, token: token, issuedAt: issuedAt, at: rig.loop.now.unixSeconds))
            onRequest(connection, stream)
        }
        return { uses }
    }

    @Test func tokensRotateOverADayAsAppleWants() throws {
        let rig = try PoolRig(seed: 7)
        let uses = observe(rig) { connection, stream in connection.accept(stream) }
        var sent = 0
        for _ in 0..<(24 * 60) {
            rig.send()
            sent += 1
            rig.pass(.seconds(60))
        }
        #expect(rig.runUntilEnded(sent))
        #expect((0..<sent).allSatisfy(rig.isAccepted))
        let all = uses()
        #expect(all.allSatisfy { $0.at - $0.issuedAt < 3600 })
        let issues = Set(all.map(\.issuedAt)).sorted()
        #expect(48...58 ~= issues.count, "a new one every 25 to 30 minutes: \(issues.count)")
        #expect(zip(issues, issues.dropFirst()).allSatisfy { $1 - $0 >= 1200 })
        #expect(Set(all.map(\.token)).count == issues.count, "one token, not one a request")
        #expect(rig.apns.connections.count == 1)
    }

    /// Connections come and go all the time; none may see two tokens within twenty minutes.
    @Test(arguments: 0..<3 as Range<UInt64>) func noConnectionSeesTwoTokensWithinTwentyMinutes(seed: UInt64) throws {
        let rig = try PoolRig(seed: seed)
        var random = SeededRandom(seed: seed)
        let uses = observe(rig) { connection, stream in
            connection.accept(stream)
            if random.below(40) == 0 { connection.server.goAway() }
        }
        let total = 24 * 60
        for _ in 0..<total {
            rig.send()
            rig.pass(.seconds(60))
        }
        #expect(rig.runUntilEnded(total))
        let all = uses()
        #expect(all.allSatisfy { $0.at - $0.issuedAt < 3600 })
        for connection in 0..<rig.apns.connections.count {
            var last: (token: String, since: Int64)?
            for use in all where use.connection == connection {
                guard use.token != last?.token else { continue }
                if let last { #expect(use.at - last.since >= 1200) }
                last = (use.token, use.at)
            }
        }
        #expect(rig.apns.connections.count > 10)
    }

    /// It may not have the next one yet, and its own is too old to be sent.
    @Test func aConnectionThatCanSendNeitherTokenIsReplaced() throws {
        let rig = try PoolRig {
            ($0.token.refreshSecondsMin, $0.token.refreshSecondsMax) = (40 * 60, 40 * 60)
            $0.token.useSecondsMax = 45 * 60
        }
        let uses = observe(rig) { connection, stream in connection.accept(stream) }
        for minute in 0..<60 {
            if minute == 29 { rig.withPool { $0.retireConnections() } }
            rig.send()
            rig.pass(.seconds(60))
        }
        #expect((0..<60).allSatisfy(rig.isAccepted))
        #expect(uses().allSatisfy { $0.at - $0.issuedAt <= 45 * 60 })
        #expect(rig.apns.connections.count == 3)
    }

    /// Rows 71 and 140.
    @Test(arguments: [false, true])
    func anExpiredTokenIsReplacedAndThePushSentAgainOnANewConnection(isBroadcast: Bool) throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.pass(.seconds(25 * 60))
        let uses = observe(rig) { [unowned rig] connection, stream in
            if connection === rig.apns.connections[0] {
                connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
            } else {
                connection.accept(stream)
            }
        }
        rig.send(5) { isBroadcast ? PoolRig.broadcast($0) : PoolRig.request($0) }
        #expect(rig.runUntilEnded(6))
        #expect((0..<6).allSatisfy(rig.isAccepted))
        #expect(Set(uses().map(\.token)).count == 2)
        let ids = rig.apns.requests.dropFirst().map { $0[isBroadcast ? "apns-request-id" : "apns-id"] }
        #expect(ids.count == 10 && Set(ids).count == 5 && !ids.contains(nil))
        #expect(rig.apns.connections.count == 2)
        #expect(rig.resent == 5)
    }

    @Test func aLateRefusalOfTheOldTokenLeavesTheConnectionWithTheNewOne() throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.pass(.seconds(25 * 60))
        let first = rig.apns.connections[0]
        rig.apns.onRequest = { connection, stream in
            if connection !== first { connection.accept(stream) }
        }
        rig.send(2)
        #expect(rig.run(until: { first.open.count == 2 }))
        for ended in 2...3 {
            rig.loop.enter { first.answer(first.open[0], 403, #"{"reason":"ExpiredProviderToken"}"#) }
            #expect(rig.runUntilEnded(ended))
        }
        rig.send()
        #expect(rig.runUntilEnded(4))
        #expect((0..<4).allSatisfy(rig.isAccepted))
        #expect(rig.apns.connections.count == 2)
    }

    @Test func aPushThatLeftAConnectionIsStillSentAgainWithANewToken() throws {
        let rig = try PoolRig()
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.pass(.seconds(25 * 60))
        rig.apns.onRequest = { [unowned rig] connection, stream in
            switch rig.apns.connections.count {
            case 1: connection.answer(stream, 403, #"{"reason":"UnrelatedKeyIdInToken"}"#)
            case 2: connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
            default: connection.accept(stream)
            }
        }
        rig.send()
        #expect(rig.runUntilEnded(2))
        #expect(rig.isAccepted(1))
        #expect(rig.resent == 2)
    }

    @Test func aYoungTokenThatIsCalledExpiredIsNotReplaced() throws {
        let rig = try PoolRig()
        let uses = observe(rig) { connection, stream in
            connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
        }
        rig.send(3)
        #expect(rig.runUntilEnded(3))
        #expect(rig.answers.map(\.reason) == Array(repeating: .expiredProviderToken, count: 3))
        #expect(Set(uses().map(\.token)).count == 1)
    }

    @Test func aRefusedKeyIsAnAnswerAndItsConnectionIsReplaced() throws {
        let rig = try PoolRig()
        rig.apns.onRequest = { connection, stream in
            connection.answer(stream, 403, #"{"reason":"InvalidProviderToken"}"#)
        }
        rig.send(2)
        #expect(rig.runUntilEnded(2))
        #expect(rig.answers.map(\.reason) == Array(repeating: .invalidProviderToken, count: 2))
        #expect(rig.apns.connections.count == 2)
    }

    @Test func aRefusedKeyLeavesAllItsConnections() throws {
        let rig = try PoolRig {
            $0.connectionsMax = 2
            $0.streamsMax = 1
        }
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.apns.onRequest = { _, _ in }
        rig.send(2)
        #expect(rig.run(until: { rig.apns.connections.count == 2 && rig.apns.requests.count == 3 }))
        let (first, second) = (rig.apns.connections[0], rig.apns.connections[1])
        rig.loop.enter { first.answer(first.open[0], 403, #"{"reason":"InvalidProviderToken"}"#) }
        #expect(rig.runUntilEnded(2))
        rig.loop.enter { second.accept(second.open[0]) }
        #expect(rig.runUntilEnded(3))
        rig.pass(.seconds(1))
        #expect(first.hasClosed && second.hasClosed)
    }

    @Test func aConnectionThatIsBoundToAnotherKeyIsLeft() throws {
        let rig = try PoolRig()
        rig.apns.onRequest = { [unowned rig] connection, stream in
            if connection === rig.apns.connections[0] {
                connection.answer(stream, 403, #"{"reason":"UnrelatedKeyIdInToken"}"#)
            } else {
                connection.accept(stream)
            }
        }
        rig.send()
        #expect(rig.runUntilEnded(1))
        #expect(rig.isAccepted(0))
    }
}
