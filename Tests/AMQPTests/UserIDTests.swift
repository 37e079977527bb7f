import AMQP
import EventLoop
import TestKit
import Testing

/// The property `user-id`: which messages carry it, and what follows when the broker refuses it.
@Suite struct UserIDTests {
    private static func signed(_ text: String) -> OutgoingMessage {
        var message = Scene.message(text)
        message.carriesUserID = true
        return message
    }

    @Test func messagesThatCarryItNameTheUserOfTheLogin() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            for message in [Self.signed("a"), Scene.message("b")] {
                #expect(await publisher.publish(message) == .confirmed)
            }
            let published = scene.broker.queue("out")?.ready.map(\.properties) ?? []
            #expect(published.map(\.messageID) == ["a", "b"])
            #expect(published.map(\.userID) == ["guest", nil])
        }
    }

    @Test func aRefusalCostsOneChannelAndIsReportedOnce() {
        Scene.play { scene in
            scene.broker.behaviour.knownUser = "CN=worker"
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            var refusals: [AMQPError] = []
            let handler: TestSessionHandler = scene.handler(of: publisher)
            handler.onUserIDRefused = { refusals.append($0) }
            await scene.wait("ready") { publisher.status == .ready }
            let start = scene.loop.now.monotonic
            guard case .unknown(let error) = await publisher.publish(Self.signed("a")) else {
                return fail("the broker took another user")
            }
            #expect(error.replyCode == 406 && error.isRetriable)
            for text in ["a", "b", "c"] { #expect(await publisher.publish(Self.signed(text)) == .confirmed) }
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(1))
            #expect(refusals == [error] && publisher.userID == nil)
            let published = scene.broker.queue("out")?.ready.map(\.properties.userID) ?? []
            #expect(published == [nil, nil, nil])
            #expect(scene.broker.logins == 1)
            #expect(
                scene.states == [
                    "publisher connecting", "publisher ready", "publisher waiting: preconditionFailed",
                    "publisher connecting", "publisher ready",
                ])
        }
    }

    /// A command has no lane that publishes again.
    @Test func messagesGoWithoutARefusedUserID() {
        Scene.play { scene in
            scene.broker.behaviour.knownUser = "CN=worker"
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            for text in ["a", "b"] {
                #expect(await publisher.publishWithoutRefusedUserID(Self.signed(text)) == .confirmed)
            }
            #expect(scene.broker.queue("out")?.ready.map(\.properties.messageID) == ["a", "b"])
        }
    }

    /// The broker derives the user from the certificate, and does not say it.
    @Test func withACertificateNoneIsSent() {
        Scene.play { scene in
            scene.broker.behaviour.mechanisms = "PLAIN EXTERNAL"
            scene.broker.behaviour.knownUser = "CN=worker"
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.connection.prefersCertificate = true
            let publisher = scene.makePublisher()
            #expect(await publisher.publish(Self.signed("a")) == .confirmed)
            #expect(scene.broker.queue("out")?.ready.map(\.properties.userID) == [nil])
        }
    }

    @Test(arguments: [("guest", "guest"), ("", nil), (String(repeating: "é", count: 128), nil)])
    func aUserThatNoPropertyHoldsIsNotSent(_ user: String, _ userID: String?) {
        let credentials = AMQPCredentials(user: user, password: "")
        #expect(ConnectionConfiguration(credentials: credentials).userID == userID)
    }
}
