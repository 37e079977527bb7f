import APNSProtocol
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// Rows of the conformance table about limits of connections. Apple gives no figures for these limits, so each limit
/// is a switch.
@Suite struct ConnectionLimitConformanceTests {
    private static let badDeviceToken = #"{"reason":"BadDeviceToken"}"#

    private func announced(_ peer: FramePeer) -> [UInt32] {
        peer.frames.flatMap(\.settings).filter { $0.id == 3 }.map(\.value)
    }

    @Test("row 7: a second stream before the first valid push closes the connection, a switch") func row7() throws {
        let wire = try Wire { configuration, state in
            configuration.answerDelay = .milliseconds(100)
            state.rules.gateViolation = .goAway
        }
        #expect(RuleOptions().gateViolation == .reset)
        let peer = wire.connect()
        wire.loop.enter { for _ in 0..<3 { peer.request(wire.fields(), body: Array(Wire.alert.utf8)) } }
        wire.run { peer.isFinished || peer.isClosed }
        #expect(
            peer.transcript.contains("GOAWAY 1 REFUSED_STREAM Maximum active streams violated for this endpoint."))
        expectAccepted(peer[1])
        #expect(peer[3].frames == [] && peer[5].frames == [])
        #expect(wire.apns.server.counters.requests == 1)
        #expect(wire.apns.server.counters.connectionsByEnd[.goAway] == 1)
    }

    @Test("row 10: one stream after refusals, the full limit after a success") func row10() throws {
        let wire = try Wire { configuration, state in
            configuration.answerDelay = .milliseconds(100)
            state.rules.errorsInARowMax = 2
        }
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.run { announced(peer).count == 2 }
        // Several requests are in flight when the limit falls. No stream is refused.
        let streams = wire.loop.enter {
            (0..<6).map { number in
                peer.request(wire.fields([":path": "/3/device/xy"]), body: Array(Wire.alert.utf8))
            }
        }
        wire.run { streams.allSatisfy { peer[$0].isComplete } }
        #expect(streams.allSatisfy { peer[$0].line == "400 \(Self.badDeviceToken)" })
        wire.run { announced(peer).count == 3 }
        #expect(announced(peer) == [1, 1000, 1])
        wire.wait(.seconds(1))
        let two = wire.loop.enter {
            (0..<2).map { _ in peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        }
        wire.run { peer[two[0]].isComplete }
        #expect(peer[two[1]].frames == ["RST_STREAM"])
        expectAccepted(peer[two[0]])
        wire.run { announced(peer).count == 4 }
        #expect(announced(peer) == [1, 1000, 1, 1000])
    }

    @Test("row 14: ten connects and closes in a few seconds are refused for a while") func row14() throws {
        let wire = try Wire { _, state in state.rules.shortConnectionsMax = 10 }
        #expect(RuleOptions().shortConnectionsMax == 3000, "the default may not allow the connections of a load test")
        let peers = (0..<10).map { _ in
            let peer = wire.connect()
            wire.loop.enter { peer.close() }
            wire.wait(.milliseconds(200))
            return peer
        }
        #expect(peers.allSatisfy { !$0.frames.isEmpty })
        let refused = wire.connect()
        #expect(refused.frames.isEmpty && refused.isClosed)
        wire.wait(.seconds(20))
        #expect(wire.connect().frames.isEmpty)
        wire.wait(.seconds(10))
        expectAccepted(wire.push(on: wire.connect()))
        #expect(wire.apns.server.counters.connectionsByEnd[.refused] == 2)
    }

    @Test(
        "row 109: many bad device tokens end the connection", arguments: [RuleOptions.ConnectionClosing.goAway, .close])
    func row109(end: RuleOptions.ConnectionClosing) throws {
        let wire = try Wire { _, state in
            state.rules.badDeviceTokensMax = 3
            state.rules.errorsEnd = end
        }
        #expect(RuleOptions().badDeviceTokensMax == 200 && RuleOptions().errorsMax == 1000)
        let peer = wire.connect()
        for _ in 0..<4 {
            expectRefused(wire.push([":path": "/3/device/xy"], on: peer), 400, Self.badDeviceToken)
        }
        wire.run { peer.isFinished || peer.isClosed }
        #expect(peer.isFinished || peer.isClosed)
        let goAways = peer.transcript.filter { $0.hasPrefix("GOAWAY") }
        #expect(goAways == (end == .goAway ? ["GOAWAY 7 NO_ERROR \(Self.badDeviceToken)"] : []))
        expectAccepted(wire.push(on: wire.connect()))
    }

    @Test("row 116: IdleTimeout after the configured time without streams") func row116() throws {
        let wire = try Wire { configuration, state in
            configuration.answerDelay = .seconds(40)
            state.rules.idleSecondsMax = 30
        }
        #expect(RuleOptions().idleSecondsMax == nil)
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        #expect(
            !peer.transcript.contains { $0.hasPrefix("GOAWAY") },
            "the connection ended while a request waits for its answer")
        wire.run { peer.isFinished || peer.isClosed }
        #expect(peer.transcript.last == #"GOAWAY 1 NO_ERROR {"reason":"IdleTimeout"}"#)
    }

    @Test("row 116: setting the clock ahead makes connections idle") func row116ByTheClock() throws {
        let wire = try Wire { _, state in state.rules.idleSecondsMax = 3600 }
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.loop.enter { wire.apns.server.clockOffset = .seconds(3600) }
        wire.run { peer.isFinished || peer.isClosed }
        #expect(peer.transcript.last == #"GOAWAY 1 NO_ERROR {"reason":"IdleTimeout"}"#)
    }

    @Test("row 116: IdleTimeout as an answer, a switch") func row116AsAnAnswer() throws {
        let wire = try Wire { _, state in
            state.rules.idleSecondsMax = 30
            state.rules.idleEnd = .answer
        }
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.wait(.seconds(31))
        expectRefused(wire.push(on: peer), 400, #"{"reason":"IdleTimeout"}"#)
        expectAccepted(wire.push(on: peer))
    }

    @Test("row 122: idle for an hour, then only 500, by the rules") func row122() throws {
        let wire = try Wire { _, state in state.rules.staleIdleSeconds = 3600 }
        #expect(RuleOptions().staleIdleSeconds == nil)
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.loop.enter { wire.apns.server.clockOffset = .seconds(3600) }
        let issuedAt = wire.apns.server.now.unixSeconds
        let fresh = try wire.token(
            of: wire.apns.provider, claims: #"{"iss":"\#(wire.apns.provider.teamID)","iat":\#(issuedAt)}"#)
        for _ in 0..<3 {
            expectRefused(wire.push(with: fresh, on: peer), 500, #"{"reason":"InternalServerError"}"#)
        }
        expectAccepted(wire.push(with: fresh))
    }
}
