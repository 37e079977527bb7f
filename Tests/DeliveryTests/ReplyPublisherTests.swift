import AMQP
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

@Suite struct ReplyPublisherTests {
    /// The outcome of a publish.
    ///
    /// `@unchecked Sendable`: used only on the thread that runs the loop.
    private final class State: @unchecked Sendable {
        var isDone: Bool?
    }

    // The caller then acknowledges the command. Another delivery of the command would have the same reply.
    @Test func aReplyThatNoBrokerAcceptsCountsAsDone() throws {
        let (loop, state) = (VirtualLoop(seed: 1), State())
        let broker = loop.enter { ScriptedBroker(loop: loop) }
        try loop.enter { try broker.start() }
        let connection = loop.enter {
            BrokerConnection(
                loop: loop, connectors: [ByteConnector(loop: loop, endpoint: broker.endpoint)],
                configuration: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")))
        }
        let publisher = loop.enter { Publisher(on: connection) }
        nonisolated(unsafe) let replies = loop.enter {
            ReplyPublisher(
                publisher, admin: BrokerAdmin(on: connection), repeats: Counter(), log: .silent,
                completeRemedy: { $0 })
        }
        loop.enter { publisher.start() }
        var message = OutgoingMessage(exchange: "", routingKey: "", body: [], messageID: "m")
        message.type = String(repeating: "x", count: 256)
        let reply = ReplyDelivery(message, to: nil, orElse: ("push.results", "result.channel.a"))
        loop.enter {
            _ = Task(executorPreference: loop) { state.isDone = await replies.publish(reply, until: { false }) }
        }
        _ = loop.run(limit: .seconds(600), until: { state.isDone != nil })
        #expect(state.isDone == true && loop.enter { broker.published } == 0)
        nonisolated(unsafe) let open = connection
        loop.enter { _ = Task(executorPreference: loop) { await open.close(deadlineSeconds: 1) } }
        _ = loop.run(limit: .seconds(10), until: { false })
        loop.enter { broker.crash() }
        _ = loop.run(limit: .seconds(60), until: { false })
    }
}
