import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import JSON
import Testing

@testable import APNS

/// Tests of the provider tokens that APNs receives over hours of virtual time.
@Suite struct TokenRotationTests {
    /// One use of a token on a connection.
    private struct Use {
        var connection: Int
        var token: String
        var issuedAt: Int64
        var at: Int64
    }

    /// Records each use of a token at APNs. Returns a function that returns the uses.
    private func observe(_ harness: PoolHarness, onRequest: @escaping (FakeConnection, HTTP2Stream) -> Void) -> () ->
        [Use]
    {
        var uses: [Use] = []
        harness.apns.onRequest = { [unowned harness] connection, stream in
            let token = connection.request(stream)?["authorization"] ?? ""
            let claims = token.split(separator: ".").dropFirst().first.map(String.init).flatMap { Base64URL.decode($0) }
            let issuedAt = claims.flatMap { try? JSONDocument($0).root["iat"]?.int64 } ?? 0
            let index = harness.apns.connections.firstIndex { $0 === connection } ?? -1
            uses.append(
                Use(connection: index, token: token, issuedAt: issuedAt, at: harness.loop.now.unixSeconds))
            onRequest(connection, stream)
        }
        return { uses }
    }

    @Test func tokensRotateOverADayAsDocumented() throws {
        let harness = try PoolHarness(seed: 7)
        let uses = observe(harness) { connection, stream in connection.accept(stream) }
        var sent = 0
        for _ in 0..<(24 * 60) {
            harness.send()
            sent += 1
            harness.pass(.seconds(60))
        }
        #expect(harness.runUntilEnded(sent))
        #expect((0..<sent).allSatisfy(harness.isAccepted))
        let all = uses()
        #expect(all.allSatisfy { $0.at - $0.issuedAt < 3600 })
        let issues = Set(all.map(\.issuedAt)).sorted()
        #expect(48...58 ~= issues.count, "\(issues.count) tokens do not fit a renewal every 25 to 30 minutes")
        #expect(zip(issues, issues.dropFirst()).allSatisfy { $1 - $0 >= 1200 })
        #expect(Set(all.map(\.token)).count == issues.count, "several tokens have the same time of issue")
        #expect(harness.apns.connections.count == 1)
    }

    // Connections are opened and closed continually. No connection may send two tokens within twenty minutes.
    @Test(arguments: 0..<3 as Range<UInt64>) func noConnectionSeesTwoTokensWithinTwentyMinutes(seed: UInt64) throws {
        let harness = try PoolHarness(seed: seed)
        var random = SeededRandom(seed: seed)
        let uses = observe(harness) { connection, stream in
            connection.accept(stream)
            if random.below(40) == 0 { connection.server.goAway() }
        }
        let total = 24 * 60
        for _ in 0..<total {
            harness.send()
            harness.pass(.seconds(60))
        }
        #expect(harness.runUntilEnded(total))
        let all = uses()
        #expect(all.allSatisfy { $0.at - $0.issuedAt < 3600 })
        for connection in 0..<harness.apns.connections.count {
            var last: (token: String, since: Int64)?
            for use in all where use.connection == connection {
                guard use.token != last?.token else { continue }
                if let last { #expect(use.at - last.since >= 1200) }
                last = (use.token, use.at)
            }
        }
        #expect(harness.apns.connections.count > 10)
    }

    // The connection must not use the next token yet, and its current token is too old.
    @Test func aConnectionThatCanSendNeitherTokenIsReplaced() throws {
        let harness = try PoolHarness {
            ($0.token.refreshSecondsMin, $0.token.refreshSecondsMax) = (40 * 60, 40 * 60)
            $0.token.useSecondsMax = 45 * 60
        }
        let uses = observe(harness) { connection, stream in connection.accept(stream) }
        for minute in 0..<60 {
            if minute == 29 { harness.withPool { $0.retireConnections() } }
            harness.send()
            harness.pass(.seconds(60))
        }
        #expect((0..<60).allSatisfy(harness.isAccepted))
        #expect(uses().allSatisfy { $0.at - $0.issuedAt <= 45 * 60 })
        #expect(harness.apns.connections.count == 3)
    }

    // Rows 71 and 140 of the conformance table.
    @Test(arguments: [false, true])
    func anExpiredTokenIsReplacedAndThePushSentAgainOnANewConnection(isBroadcast: Bool) throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.pass(.seconds(25 * 60))
        let uses = observe(harness) { [unowned harness] connection, stream in
            if connection === harness.apns.connections[0] {
                connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
            } else {
                connection.accept(stream)
            }
        }
        harness.send(5) { isBroadcast ? PoolHarness.broadcast($0) : PoolHarness.request($0) }
        #expect(harness.runUntilEnded(6))
        #expect((0..<6).allSatisfy(harness.isAccepted))
        #expect(Set(uses().map(\.token)).count == 2)
        let ids = harness.apns.requests.dropFirst().map { $0[isBroadcast ? "apns-request-id" : "apns-id"] }
        #expect(ids.count == 10 && Set(ids).count == 5 && !ids.contains(nil))
        #expect(harness.apns.connections.count == 2)
        #expect(harness.resent == 5)
    }

    @Test func aLateRefusalOfTheOldTokenLeavesTheConnectionWithTheNewOne() throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.pass(.seconds(25 * 60))
        let first = harness.apns.connections[0]
        harness.apns.onRequest = { connection, stream in
            if connection !== first { connection.accept(stream) }
        }
        harness.send(2)
        #expect(harness.run(until: { first.open.count == 2 }))
        for ended in 2...3 {
            harness.loop.enter { first.answer(first.open[0], 403, #"{"reason":"ExpiredProviderToken"}"#) }
            #expect(harness.runUntilEnded(ended))
        }
        harness.send()
        #expect(harness.runUntilEnded(4))
        #expect((0..<4).allSatisfy(harness.isAccepted))
        #expect(harness.apns.connections.count == 2)
    }

    @Test func aPushOfADrainedConnectionIsSentAgainWithANewToken() throws {
        let harness = try PoolHarness()
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.pass(.seconds(25 * 60))
        harness.apns.onRequest = { [unowned harness] connection, stream in
            switch harness.apns.connections.count {
            case 1: connection.answer(stream, 403, #"{"reason":"UnrelatedKeyIdInToken"}"#)
            case 2: connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
            default: connection.accept(stream)
            }
        }
        harness.send()
        #expect(harness.runUntilEnded(2))
        #expect(harness.isAccepted(1))
        #expect(harness.resent == 2)
    }

    @Test func aYoungTokenRefusedAsExpiredIsNotReplaced() throws {
        let harness = try PoolHarness()
        let uses = observe(harness) { connection, stream in
            connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
        }
        harness.send(3)
        #expect(harness.runUntilEnded(3))
        #expect(harness.answers.map(\.reason) == Array(repeating: .expiredProviderToken, count: 3))
        #expect(Set(uses().map(\.token)).count == 1)
    }

    @Test func aRefusedKeyIsAnsweredAndItsConnectionIsReplaced() throws {
        let harness = try PoolHarness()
        harness.apns.onRequest = { connection, stream in
            connection.answer(stream, 403, #"{"reason":"InvalidProviderToken"}"#)
        }
        harness.send(2)
        #expect(harness.runUntilEnded(2))
        #expect(harness.answers.map(\.reason) == Array(repeating: .invalidProviderToken, count: 2))
        #expect(harness.apns.connections.count == 2)
    }

    @Test func aRefusedKeyDrainsAllItsConnections() throws {
        let harness = try PoolHarness {
            $0.connectionsMax = 2
            $0.streamsMax = 1
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.apns.onRequest = { _, _ in }
        harness.send(2)
        #expect(harness.run(until: { harness.apns.connections.count == 2 && harness.apns.requests.count == 3 }))
        let (first, second) = (harness.apns.connections[0], harness.apns.connections[1])
        harness.loop.enter { first.answer(first.open[0], 403, #"{"reason":"InvalidProviderToken"}"#) }
        #expect(harness.runUntilEnded(2))
        harness.loop.enter { second.accept(second.open[0]) }
        #expect(harness.runUntilEnded(3))
        harness.pass(.seconds(1))
        #expect(first.hasClosed && second.hasClosed)
    }

    @Test func aConnectionBoundToAnotherKeyIsDrained() throws {
        let harness = try PoolHarness()
        harness.apns.onRequest = { [unowned harness] connection, stream in
            if connection === harness.apns.connections[0] {
                connection.answer(stream, 403, #"{"reason":"UnrelatedKeyIdInToken"}"#)
            } else {
                connection.accept(stream)
            }
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        #expect(harness.isAccepted(0))
    }
}
