import APNSProtocol
import EventLoop
import HTTP2
import Testing

@testable import APNS

@Suite struct CertificateTests {
    private let rig: PoolRig

    init() throws {
        rig = try PoolRig { $0.credential = .certificate("com.example.app") }
    }

    @Test func allStreamsAreOpenAtOnceAndNoTokenIsSent() {
        rig.apns.onRequest = { _, _ in }
        rig.send(300)
        #expect(rig.run { rig.apns.requests.count == 300 })
        #expect(rig.apns.connections.count == 1 && rig.apns.connections[0].openMax == 300)
        #expect(rig.apns.requests.allSatisfy { $0["authorization"] == nil && $0["apns-topic"] == "com.example.app" })
        for stream in rig.apns.connections[0].open { rig.loop.enter { rig.apns.connections[0].accept(stream) } }
        #expect(rig.runUntilEnded(300))
        #expect((0..<300).allSatisfy { rig.isAccepted($0) })
    }

    /// As APNs does with one of the other environment.
    @Test func whatWasNotLookedAtIsToldOnceAndNotSentAgain() {
        rig.apns.onRequest = { connection, _ in
            guard connection.requests.count >= 100 else { return }
            connection.server.goAway(lastStreamID: 0, debug: Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8))
        }
        rig.send(150)
        #expect(rig.runUntilEnded(150))
        #expect(
            rig.outcomes.values.allSatisfy { $0 == .notSent(.certificateRefused(.goAway(.badCertificateEnvironment))) })
        #expect(rig.apns.connections.count == 1)
    }

    @Test func aConnectionProvesItselfByAnAnswerToAPush() {
        rig.apns.onRequest = { connection, stream in connection.answer(stream, 403, #"{"reason":"BadCertificate"}"#) }
        rig.send()
        #expect(rig.runUntilEnded(1))
        #expect(rig.answer(0)?.reason == .badCertificate)
        rig.apns.onRequest = { connection, _ in connection.server.abort() }
        rig.send()
        #expect(rig.runUntilEnded(2))
        #expect(rig.outcomes[1] == .unknown(.connectionLost, silentConnection: 2))
    }
}
