import Crypto
import EventLoop
import JSON
import Testing

@testable import APNS

/// Provider tokens where the wall clock is wrong or the machine was suspended. APNs' own clock is right.
@Suite struct ClockTests {
    private static let startUnixSeconds: Int64 = 1_767_225_600

    /// APNs takes tokens that are at most an hour older or newer than its clock. Returns the `iat` of each request.
    private func apnsWithAClock(_ rig: PoolRig, aheadSays reason: String = "InvalidProviderToken") -> () -> [Int64] {
        var seen: [Int64] = []
        rig.apns.onRequest = { [unowned rig] connection, stream in
            let claims = connection.request(stream)?["authorization"]?.split(separator: ".").dropFirst().first
            let bytes = claims.flatMap { Base64URL.decode(String($0)) }
            let issuedAt = bytes.flatMap { try? JSONDocument($0).root["iat"]?.int64 } ?? 0
            let now = Self.startUnixSeconds + rig.loop.now.sinceBoot.nanoseconds / 1_000_000_000 - 1
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

    private func setClock(_ rig: PoolRig, bySeconds seconds: Int64) {
        rig.loop.now.unixNanoseconds += seconds * 1_000_000_000
    }

    private func suspend(_ rig: PoolRig, seconds: Int64) {
        rig.loop.now.unixNanoseconds += seconds * 1_000_000_000
        rig.loop.now.sinceBoot = rig.loop.now.sinceBoot + .seconds(seconds)
    }

    @Test(arguments: [-4200, 4200] as [Int64]) func aClockThatIsCorrectedHealsByItself(offset: Int64) throws {
        let rig = try PoolRig()
        setClock(rig, bySeconds: offset)
        let seen = apnsWithAClock(rig)
        rig.send()
        #expect(rig.runUntilEnded(1))
        #expect(rig.answer(0)?.status == 403)
        rig.send()
        #expect(rig.runUntilEnded(2))
        #expect(rig.answer(1)?.status == 403)
        #expect(Set(seen()).count == 1, "while the clock stands wrong a new token is no better")
        rig.pass(.seconds(5))
        setClock(rig, bySeconds: -offset)
        rig.send(20)
        #expect(rig.runUntilEnded(22))
        #expect((2..<22).allSatisfy(rig.isAccepted))
        #expect(Set(seen()).count == 2)
        for connection in rig.apns.connections {
            #expect(Set(connection.requests.map { $0["authorization"] }).count <= 1)
        }
    }

    @Test func aClockThatJumpsKeepsTheToken() throws {
        for jump in [-7200, 7200, 86_400] as [Int64] {
            let rig = try PoolRig()
            let seen = apnsWithAClock(rig)
            rig.send()
            #expect(rig.runUntilEnded(1))
            setClock(rig, bySeconds: jump)
            for minute in 1...19 {
                rig.pass(.seconds(60))
                rig.send()
                #expect(rig.runUntilEnded(minute + 1))
            }
            #expect((0..<20).allSatisfy(rig.isAccepted), "a jump of \(jump) s")
            #expect(Set(seen()).count == 1)
        }
    }

    @Test(arguments: [3500, 7200, 86_400] as [Int64]) func aSuspendedMachineSendsANewToken(seconds: Int64) throws {
        let rig = try PoolRig()
        let seen = apnsWithAClock(rig)
        rig.send()
        #expect(rig.runUntilEnded(1))
        suspend(rig, seconds: seconds)
        rig.send(5)
        #expect(rig.runUntilEnded(6))
        #expect((0..<6).allSatisfy(rig.isAccepted))
        #expect(Set(seen()).count == 2)
    }

    @Test func aRefusedTokenIsNotTriedOnTheNextConnectionThatSendsIt() throws {
        let rig = try PoolRig {
            $0.connectionsMax = 2
            $0.streamsMax = 1
        }
        rig.send()
        #expect(rig.runUntilEnded(1))
        rig.apns.onRequest = { _, _ in }
        rig.send(2)
        #expect(rig.run(until: { rig.apns.connections.count == 2 && rig.apns.requests.count == 3 }))
        rig.loop.enter { for connection in rig.apns.connections { connection.open.forEach(connection.accept) } }
        #expect(rig.runUntilEnded(3))
        rig.pass(.seconds(25 * 60))
        let old = rig.apns.requests[0]["authorization"]
        rig.apns.onRequest = { connection, stream in
            if connection.request(stream)?["authorization"] == old {
                connection.answer(stream, 403, #"{"reason":"ExpiredProviderToken"}"#)
            } else {
                connection.accept(stream)
            }
        }
        rig.send()
        #expect(rig.runUntilEnded(4))
        #expect(rig.isAccepted(3))
        #expect(rig.resent == 1)
    }
}
