import AMQP
import EventLoop
import TestKit
import Testing

/// The property `user-id`, the messages that carry it, and the consequences of its refusal by the broker.
@Suite struct UserIDTests {
    private static func signed(_ text: String) -> OutgoingMessage {
        var message = AMQPHarness.message(text)
        message.carriesUserID = true
        return message
    }

    @Test func messagesThatCarryTheUserIDNameTheUserOfTheLogin() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            for message in [Self.signed("a"), AMQPHarness.message("b")] {
                #expect(await publisher.publish(message) == .confirmed)
            }
            let published = harness.broker.queue("out")?.ready.map(\.properties) ?? []
            #expect(published.map(\.messageID) == ["a", "b"])
            #expect(published.map(\.userID) == ["guest", nil])
        }
    }

    @Test func aRefusalClosesOneChannelAndIsReportedOnce() {
        AMQPHarness.play { harness in
            harness.broker.behavior.knownUser = "CN=worker"
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            var refusals: [AMQPError] = []
            let handler: TestSessionHandler = harness.handler(of: publisher)
            handler.onUserIDRefused = { refusals.append($0) }
            await harness.wait("ready") { publisher.status == .ready }
            let start = harness.loop.now.monotonic
            guard case .unknown(let error) = await publisher.publish(Self.signed("a")) else {
                return fail("the broker accepted another user")
            }
            #expect(error.replyCode == 406 && error.isRetriable)
            for text in ["a", "b", "c"] { #expect(await publisher.publish(Self.signed(text)) == .confirmed) }
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(1))
            #expect(refusals == [error] && publisher.userID == nil)
            let published = harness.broker.queue("out")?.ready.map(\.properties.userID) ?? []
            #expect(published == [nil, nil, nil])
            #expect(harness.broker.logins == 1)
            #expect(
                harness.states == [
                    "publisher connecting", "publisher ready", "publisher waiting: preconditionFailed",
                    "publisher connecting", "publisher ready",
                ])
        }
    }

    // Commands have no lane that would publish a refused message again, so the publisher repeats the message.
    @Test func messagesAfterARefusalCarryNoUserID() {
        AMQPHarness.play { harness in
            harness.broker.behavior.knownUser = "CN=worker"
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            for text in ["a", "b"] {
                #expect(await publisher.publishWithoutRefusedUserID(Self.signed(text)) == .confirmed)
            }
            #expect(harness.broker.queue("out")?.ready.map(\.properties.messageID) == ["a", "b"])
        }
    }

    // The broker derives the user from the certificate and does not report the user.
    @Test func withACertificateNoUserIDIsSent() {
        AMQPHarness.play { harness in
            harness.broker.behavior.mechanisms = "PLAIN EXTERNAL"
            harness.broker.behavior.knownUser = "CN=worker"
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.connection.prefersCertificate = true
            let publisher = harness.makePublisher()
            #expect(await publisher.publish(Self.signed("a")) == .confirmed)
            #expect(harness.broker.queue("out")?.ready.map(\.properties.userID) == [nil])
        }
    }

    @Test(arguments: [("guest", "guest"), ("", nil), (String(repeating: "é", count: 128), nil)])
    func aUserThatDoesNotFitAPropertyIsNotSent(_ user: String, _ userID: String?) {
        let credentials = AMQPCredentials(user: user, password: "")
        #expect(ConnectionConfiguration(credentials: credentials).userID == userID)
    }
}
