import Crypto
import EventLoop
import JSON
import Testing

@testable import APNS

/// Tests of provider tokens with a wrong wall clock or after a suspend of the machine. The clock of APNs is correct.
@Suite struct ClockTests {
    private static let startUnixSeconds: Int64 = 1_767_225_600

    /// Makes APNs accept tokens that are at most an hour older or newer than its clock. Returns a function that
    /// returns the `iat` of each request.
    private func apnsWithAClock(_ harness: PoolHarness, aheadSays reason: String = "InvalidProviderToken") -> () ->
        [Int64]
    {
        var seen: [Int64] = []
        harness.apns.onRequest = { [unowned harness] connection, stream in
            let claims = connection.request(stream)?["authorization"]?.split(separator: ".").dropFirst().first
            let bytes = claims.flatMap { Base64URL.decode(String($0)) }
            let issuedAt = bytes.flatMap { try? JSONDocument($0).root["iat"]?.int64 } ?? 0
            let now = Self.startUnixSeconds + harness.loop.now.sinceBoot.nanoseconds / 1_000_000_000 - 1
            seen.append(issuedAt)
            if now - issuedAt > 3600 {
                connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
            } else if issuedAt - now > 3600 {
                connection.answer(stream, 403, #"{"reason":"\#(reason)"}"#)
            } else {
                connection.accept(stream)
            }
        }
        return { seen }
    }

    private func setClock(_ harness: PoolHarness, bySeconds seconds: Int64) {
        harness.loop.now.unixNanoseconds += seconds * 1_000_000_000
    }

    private func suspend(_ harness: PoolHarness, seconds: Int64) {
        harness.loop.now.unixNanoseconds += seconds * 1_000_000_000
        harness.loop.now.sinceBoot = harness.loop.now.sinceBoot + .seconds(seconds)
    }

    @Test(arguments: [-4200, 4200] as [Int64]) func pushesSucceedAgainAfterTheClockIsCorrected(offset: Int64) throws {
        let harness = try PoolHarness()
        setClock(harness, bySeconds: offset)
        let seen = apnsWithAClock(harness)
        harness.send()
        #expect(harness.runUntilEnded(1))
        #expect(harness.answer(0)?.status == 403)
        harness.send()
        #expect(harness.runUntilEnded(2))
        #expect(harness.answer(1)?.status == 403)
        #expect(Set(seen()).count == 1, "a new token was signed while the clock was wrong")
        harness.pass(.seconds(5))
        setClock(harness, bySeconds: -offset)
        harness.send(20)
        #expect(harness.runUntilEnded(22))
        #expect((2..<22).allSatisfy(harness.isAccepted))
        #expect(Set(seen()).count == 2)
        for connection in harness.apns.connections {
            #expect(Set(connection.requests.map { $0["authorization"] }).count <= 1)
        }
    }

    @Test func aClockThatJumpsKeepsTheToken() throws {
        for jump in [-7200, 7200, 86_400] as [Int64] {
            let harness = try PoolHarness()
            let seen = apnsWithAClock(harness)
            harness.send()
            #expect(harness.runUntilEnded(1))
            setClock(harness, bySeconds: jump)
            for minute in 1...19 {
                harness.pass(.seconds(60))
                harness.send()
                #expect(harness.runUntilEnded(minute + 1))
            }
            #expect((0..<20).allSatisfy(harness.isAccepted), "a push failed after a jump of \(jump) s")
            #expect(Set(seen()).count == 1)
        }
    }

    @Test(arguments: [3500, 7200, 86_400] as [Int64]) func aSuspendedMachineSendsANewToken(seconds: Int64) throws {
        let harness = try PoolHarness()
        let seen = apnsWithAClock(harness)
        harness.send()
        #expect(harness.runUntilEnded(1))
        suspend(harness, seconds: seconds)
        harness.send(5)
        #expect(harness.runUntilEnded(6))
        #expect((0..<6).allSatisfy(harness.isAccepted))
        #expect(Set(seen()).count == 2)
    }

    @Test func aRefusedTokenIsNotSentOnOtherConnections() throws {
        let harness = try PoolHarness {
            $0.connectionsMax = 2
            $0.streamsMax = 1
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        harness.apns.onRequest = { _, _ in }
        harness.send(2)
        #expect(harness.run(until: { harness.apns.connections.count == 2 && harness.apns.requests.count == 3 }))
        harness.loop.enter { for connection in harness.apns.connections { connection.open.forEach(connection.accept) } }
        #expect(harness.runUntilEnded(3))
        harness.pass(.seconds(25 * 60))
        let old = harness.apns.requests[0]["authorization"]
        harness.apns.onRequest = { connection, stream in
            if connection.request(stream)?["authorization"] == old {
                connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
            } else {
                connection.accept(stream)
            }
        }
        harness.send()
        #expect(harness.runUntilEnded(4))
        #expect(harness.isAccepted(3))
        #expect(harness.resent == 1)
    }
}
