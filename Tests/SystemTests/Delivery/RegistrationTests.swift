import AMQP
import APNSProtocol
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Registrations
import Telemetry
import TestKit
import Testing

@testable import Delivery

extension SystemTests {
    /// Registration commands at a real broker, with a store in memory.
    @Suite struct Registrations {
        private static let app = "com.example.app"
        private static let names = TopologyNames(prefix: "registrations-test")
        private static let replyQueue = "registrations-replies"
        private static let tokens = 500

        /// Two users register each token, and one command is invalid. The first consumer closes before all commands are
        /// processed, and the second one continues.
        @Test func theNextConsumerContinues() async throws {
            let broker = try await PrivateBroker.shared
            let url = broker.url
            let client = try TestBrokerClient(url)
            try await client.declare(Self.names, replyQueue: Self.replyQueue)
            for queue in [Self.names.resultsQueue, Self.names.deadQueue, Self.replyQueue] {
                await client.collect(queue)
            }
            try await onEpollLoop { loop in
                let keys = try RegistrationKeys(json: try RegistrationKeys.generatedFile(), source: "test")
                let store = try SimulatedStore(on: loop, keys: keys)
                store.latency = .milliseconds(2)
                let now = loop.now.unixMilliseconds
                let first = try Self.consumer(loop, url, store)
                first.start()
                try await client.publish(2 * Self.tokens) { Self.command($0, now: now) }
                try await client.publish([
                    OutgoingMessage(
                        exchange: Self.names.registrationsExchange, routingKey: "-", body: Array("{".utf8),
                        messageID: "invalid")
                ])
                try await loop.wait { store.rows.count >= Self.tokens / 4 }
                await first.close(deadlineSeconds: 10)
                let second = try Self.consumer(loop, url, store)
                second.start()
                let owners = { store.rows.values.count { $0.details?.identity?.user == "bob" } }
                try await loop.wait { owners() == Self.tokens }
                try await client.collected(Self.replyQueue, ids: 1)
                try await client.collected(Self.names.deadQueue, ids: 1)
                try await loop.wait { store.events.isEmpty }
                await second.close(deadlineSeconds: 10)
            }
            #expect(try await client.count(in: Self.names.registrationsQueue) == 0)
            try await Self.expectEvents(client)
            let dead = try #require(await client.collected(Self.names.deadQueue).first)
            #expect(dead.properties.header(MessageHeaderName.originQueue)?.stringValue == Self.names.registrationsQueue)
            await client.close()
        }

        /// Expects that each event names the new user of its token. Only an event that is marked as a possible
        /// duplicate may repeat an earlier event.
        private static func expectEvents(_ client: TestBrokerClient) async throws {
            var seen: Set<String> = []
            for event in await client.collected(names.resultsQueue) {
                let body = try JSONDocument(event.body).root
                #expect(body["event"]?.string == "moved" && body["new_user"]?.string == "bob")
                let isNew = seen.insert(try #require(event.properties.messageID)).inserted
                let isMarked = event.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue ?? false
                #expect(isNew || isMarked)
            }
            #expect(!seen.isEmpty && seen.count <= tokens)
        }

        private static func consumer(
            _ loop: EpollLoop, _ url: String, _ store: SimulatedStore
        ) throws -> RegistrationConsumer {
            let url = try AMQPURL(url)
            func connection() -> BrokerConnection {
                BrokerConnection(
                    loop: loop, connectors: url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) },
                    configuration: ConnectionConfiguration(credentials: url.credentials))
            }
            return RegistrationConsumer(
                consuming: connection(), publishing: connection(), writer: store.writer(), names: names,
                replyPrefix: replyQueue, devicesPerUserMax: tokens, metrics: MetricsRegistry(), log: .silent,
                environment: { _, environment in environment ?? .sandbox })
        }

        /// Returns a command that registers a token: for Ann if the number is even, otherwise for Bob, one second
        /// later.
        private static func command(_ number: Int, now: Int64) -> OutgoingMessage {
            let (token, isSecond) = (number / 2, number % 2 == 1)
            let digits = String(token, radix: 16)
            let address = TokenAddress(
                app: app, environment: .sandbox, kind: .device, scope: nil,
                token: String(repeating: "0", count: 64 - digits.utf8.count) + digits)
            let command = RegistrationCommand.register(
                NewRegistration(
                    address: address, user: isSecond ? "bob" : "ann", registeredAt: isSecond ? now : now - 1000))
            let id = UUIDValue(high: 1, low: UInt64(number))
            var message = OutgoingMessage(
                exchange: names.registrationsExchange, routingKey: "registration.\(app)", body: command.body(id: id),
                messageID: id.description)
            if number == 2 * tokens - 1 { message.replyTo = replyQueue }
            return message
        }
    }
}

extension TestBrokerClient {
    /// Declares the exchanges and queues of registration commands, and those to which their consumer publishes.
    fileprivate func declare(_ names: TopologyNames, replyQueue: String) async throws {
        try await brokerAdmin.declareQueue(replyQueue)
        for (queue, exchange) in [
            (names.resultsQueue, names.resultsExchange), (names.deadQueue, names.deadExchange),
            (names.registrationsQueue, names.registrationsExchange),
        ] {
            try await brokerAdmin.declareExchange(exchange, .topic)
            try await brokerAdmin.declareQueue(queue, arguments: ["x-queue-type": "quorum"])
            try await brokerAdmin.bindQueue(queue, toExchange: exchange, routingKey: "#")
        }
    }
}
