import APNSProtocol
import EventLoop
import HTTP2
import Testing

@testable import APNS

@Suite struct CertificateTests {
    private let harness: PoolHarness

    init() throws {
        harness = try PoolHarness { $0.credential = .certificate("com.example.app") }
    }

    @Test func allStreamsAreOpenImmediatelyAndNoTokenIsSent() {
        harness.apns.onRequest = { _, _ in }
        harness.send(300)
        #expect(harness.run { harness.apns.requests.count == 300 })
        #expect(harness.apns.connections.count == 1 && harness.apns.connections[0].openMax == 300)
        #expect(
            harness.apns.requests.allSatisfy { $0["authorization"] == nil && $0["apns-topic"] == "com.example.app" })
        for stream in harness.apns.connections[0].open {
            harness.loop.enter { harness.apns.connections[0].accept(stream) }
        }
        #expect(harness.runUntilEnded(300))
        #expect((0..<300).allSatisfy { harness.isAccepted($0) })
    }

    // APNs refuses a certificate of the other environment with a GOAWAY.
    @Test func unprocessedPushesAreReportedOnceAndNotSentAgain() {
        harness.apns.onRequest = { connection, _ in
            guard connection.requests.count >= 100 else { return }
            connection.server.goAway(lastStreamID: 0, debug: Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8))
        }
        harness.send(150)
        #expect(harness.runUntilEnded(150))
        #expect(
            harness.outcomes.values.allSatisfy {
                $0 == .notSent(.certificateRefused(.goAway(.badCertificateEnvironment)))
            })
        #expect(harness.apns.connections.count == 1)
    }

    @Test func aConnectionIsAuthenticatedByAnAnswerToAPush() {
        harness.apns.onRequest = { connection, stream in connection.answer(stream, 403, #"{"reason":"BadCertificate"}"#)
        }
        harness.send()
        #expect(harness.runUntilEnded(1))
        #expect(harness.answer(0)?.reason == .badCertificate)
        harness.apns.onRequest = { connection, _ in connection.server.abort() }
        harness.send()
        #expect(harness.runUntilEnded(2))
        #expect(harness.outcomes[1] == .unknown(.connectionLost, silentConnection: 2))
    }
}
