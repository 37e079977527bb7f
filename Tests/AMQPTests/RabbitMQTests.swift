import AMQP
import Crypto
import EventLoop
import TLS
import TestKit
import Testing
import Threads

/// The clients with a real RabbitMQ.
@Suite struct RabbitMQTests {
    /// The clients of a test, on a real event loop with its own thread.
    actor Bench {
        nonisolated let loop: EpollLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        let url: AMQPURL
        var connection: ConnectionConfiguration
        private(set) var deliveries: [IncomingMessage] = []

        init(_ loop: EpollLoop, url: AMQPURL) {
            self.loop = loop
            self.url = url
            connection = ConnectionConfiguration(url)
        }

        /// The context for `amqps`; nil without TLS.
        var tls: TLSContext?

        var connectors: [ByteConnector] {
            url.endpoints.map { endpoint in
                guard let tls else { return ByteConnector(loop: loop, endpoint: endpoint) }
                return TLSConnector(loop: loop, endpoint: endpoint, context: tls)
            }
        }

        func makeConsumer(_ queue: String, prefetch: Int = 100, messageBytesMax: Int = 1 << 20) -> Consumer {
            var configuration = ConsumerConfiguration(queue: queue, prefetch: prefetch)
            configuration.messageBytesMax = messageBytesMax
            let consumer = Consumer(
                loop: loop, connectors: connectors, connection: connection, configuration: configuration)
            consumer.start(makeHandler(of: consumer))
            return consumer
        }

        func makeConnection() -> BrokerConnection {
            let connection = BrokerConnection(loop: loop, connectors: connectors, configuration: connection)
            connection.start()
            return connection
        }

        func makeConsumer(_ queue: String, on connection: BrokerConnection) -> Consumer {
            let consumer = Consumer(on: connection, configuration: ConsumerConfiguration(queue: queue, prefetch: 100))
            consumer.start(makeHandler(of: consumer))
            return consumer
        }

        private var handlers: [ObjectIdentifier: TestConsumerHandler] = [:]

        private func makeHandler(of consumer: Consumer) -> TestConsumerHandler {
            let handler = TestConsumerHandler { [unowned self] delivery in
                assumeIsolated { $0.deliveries.append(delivery) }
            }
            handlers[ObjectIdentifier(consumer)] = handler
            return handler
        }

        /// Returns the handler with which a consumer was started, or a new handler for an unknown consumer.
        func handler(of consumer: Consumer) -> TestConsumerHandler {
            handlers[ObjectIdentifier(consumer)] ?? TestConsumerHandler()
        }

        func acknowledgeImmediately(_ consumer: Consumer) {
            acknowledging = consumer
            handler(of: consumer).onDelivery = { [unowned self] delivery in
                assumeIsolated { bench in
                    bench.deliveries.append(delivery)
                    bench.acknowledging?.acknowledge(delivery.tag)
                }
            }
        }

        private var acknowledging: Consumer?

        func makePublisher() -> Publisher {
            let publisher = Publisher(loop: loop, connectors: connectors, connection: connection)
            publisher.start()
            self.publisher = publisher
            return publisher
        }

        private var publisher: Publisher?

        func publish(_ message: OutgoingMessage) async -> PublishOutcome? {
            await publisher?.publish(message)
        }

        /// Publishes small messages concurrently, and expects a confirm of each message.
        func publish(_ count: Int, to queue: String) async {
            await withTaskGroup(of: PublishOutcome?.self) { group in
                for number in 0..<count {
                    group.addTask {
                        await self.publish(
                            OutgoingMessage(exchange: "", routingKey: queue, body: [1], messageID: "\(number)"))
                    }
                }
                for await outcome in group { #expect(outcome == .confirmed) }
            }
        }

        func makeAdmin() -> BrokerAdmin {
            let admin = BrokerAdmin(loop: loop, connectors: connectors, connection: connection)
            admin.start()
            return admin
        }

        func wait(_ what: Comment, until condition: () -> Bool) async {
            let end = loop.now.monotonic + TestTimeout.duration
            while !condition() {
                guard loop.now.monotonic < end else {
                    Issue.record(what)
                    return
                }
                await loop.sleep(for: .milliseconds(5))
            }
        }

        /// Waits until the queue's depth is `count`. The broker updates the depth with a delay.
        func wait(_ what: String, for count: Int, in queue: String, by admin: BrokerAdmin) async throws {
            try await poll(until: what) { try await admin.status(ofQueue: queue).messages == count }
        }

        func play(_ script: @Sendable (isolated Bench) async throws -> Void) async throws {
            try await script(self)
        }
    }

    static func play(
        url: String? = nil, _ script: @escaping @Sendable (isolated Bench) async throws -> Void
    ) async throws {
        let broker = try await PrivateBroker.shared
        let url = try AMQPURL(url ?? broker.url)
        let loop = try EpollLoop()
        try DetachedThread.start { loop.run() }
        defer { loop.stop() }
        let bench = Bench(loop, url: url)
        try await Task(executorPreference: loop) {
            try await bench.play(script)
        }.value
    }

    // Direct replies need no permission except for the publish of the request.
    @Test func aPublisherReceivesDirectReplies() async throws {
        let broker = try await PrivateBroker.shared
        try await broker.rabbitmqctl("add_user", "asking", "word")
        try await broker.rabbitmqctl("set_permissions", "asking", "^$", #"^amqp\.asked$"#, "^$")
        try await Self.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareExchange("amqp.asked", .topic)
            try await admin.declareQueue("amqp.asked")
            try await admin.bindQueue("amqp.asked", toExchange: "amqp.asked", routingKey: "#")
            let answering = bench.makePublisher()
            let consumer = bench.makeConsumer("amqp.asked")

            bench.connection.credentials = AMQPCredentials(user: "asking", password: "word")
            let asking = Publisher(loop: bench.loop, connectors: bench.connectors, connection: bench.connection)
            nonisolated(unsafe) var replies: [IncomingMessage] = []
            nonisolated(unsafe) var losses = 0
            let handler = TestConsumerHandler { replies.append($0) }
            handler.onChannelLost = { losses += 1 }
            asking.startWithReplies(handler)
            var message = OutgoingMessage(exchange: "amqp.asked", routingKey: "a", body: [1], messageID: "one")
            message.replyTo = Publisher.directReplyTo
            #expect(await asking.publish(message) == .confirmed)
            await bench.wait("request") { bench.deliveries.count == 1 }
            let address = bench.deliveries[0].properties.replyTo ?? ""
            #expect(address.hasPrefix("amq.rabbitmq.reply-to."))
            let reply = OutgoingMessage(
                exchange: "", routingKey: address, body: Array("yes".utf8), messageID: "two", correlationID: "one")
            _ = await answering.publish(reply)
            await bench.wait("reply") { replies.count == 1 }
            #expect(replies.first?.body == Array("yes".utf8) && replies.first?.properties.correlationID == "one")
            // The broker closes the channel, which loses the replies.
            message.exchange = "amq.topic"
            guard case .unknown(let error) = await asking.publish(message) else {
                return fail("the outcome is not unknown")
            }
            #expect(error.code == .accessRefused && losses == 1)
            for delivery in bench.deliveries { consumer.acknowledge(delivery.tag) }
            await asking.close()
            await consumer.close()
            await answering.close()
            try await admin.deleteQueue("amqp.asked")
            await admin.close()
        }
    }

    @Test func aMessagePassesThroughAQuorumQueueUnchanged() async throws {
        try await Self.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareExchange("amqp.whole", .topic)
            try await admin.declareQueue("amqp.whole", arguments: ["x-queue-type": "quorum"])
            try await admin.bindQueue("amqp.whole", toExchange: "amqp.whole", routingKey: "a.#")
            #expect(admin.serverProperties["product"] == "RabbitMQ")
            let publisher = bench.makePublisher()
            let sizes = [0, 1, 131_064, 131_065, 1 << 20]
            let headers: FieldTable = [
                "n": -5, "s": "grüße", "t": true, "at": .timestamp(seconds: 77), "d": .double(1.5),
                "p": .decimal(scale: 2, value: 1999),
            ]
            for size in sizes {
                var message = OutgoingMessage(
                    exchange: "amqp.whole", routingKey: "a.b.c", body: [UInt8](repeating: 7, count: size),
                    messageID: "\(size)",
                    headers: headers)
                message.correlationID = "corr"
                message.timestampSeconds = 1234
                message.priority = 7
                #expect(await publisher.publish(message) == .confirmed)
            }
            var nowhere = OutgoingMessage(exchange: "amqp.whole", routingKey: "z", body: [1], messageID: "x")
            #expect(await publisher.publish(nowhere) == .returned(code: 312, text: "NO_ROUTE"))
            nowhere.exchange = "amqp.missing"
            guard case .unknown(let error) = await publisher.publish(nowhere) else {
                return fail("the outcome is not unknown")
            }
            #expect(error.code == .notFound)

            let consumer = bench.makeConsumer("amqp.whole")
            await bench.wait("deliveries") { bench.deliveries.count == sizes.count }
            for (delivery, size) in zip(bench.deliveries, sizes) {
                #expect(delivery.body.count == size)
                #expect(delivery.exchange == "amqp.whole")
                #expect(delivery.routingKey == "a.b.c")
                #expect(delivery.properties.messageID == "\(size)")
                #expect(delivery.properties.correlationID == "corr")
                #expect(delivery.properties.timestampSeconds == 1234)
                #expect(delivery.properties.priority == 7)
                #expect(delivery.properties.deliveryMode == 2)
                // RabbitMQ 4 sorts the headers.
                #expect(
                    delivery.properties.headers?.entries.sorted { $0.name < $1.name }
                        == headers.entries.sorted { $0.name < $1.name })
            }
            consumer.requeue(bench.deliveries[0].tag)
            await bench.wait("redelivery") { bench.deliveries.count == sizes.count + 1 }
            #expect(bench.deliveries.last?.isRedelivered == true)
            #expect(bench.deliveries.last?.properties.header("x-delivery-count") == 1)
            for delivery in bench.deliveries.dropFirst().reversed() { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            try await bench.wait("an empty queue", for: 0, in: "amqp.whole", by: admin)
            await publisher.close()
            await admin.close()
        }
    }

    @Test func anOversizedMessageIsDeadLetteredCompletely() async throws {
        try await Self.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("amqp.large.dead")
            try await admin.declareQueue(
                "amqp.large",
                arguments: ["x-dead-letter-exchange": "", "x-dead-letter-routing-key": "amqp.large.dead"])
            let publisher = bench.makePublisher()
            let body = [UInt8](repeating: 3, count: 300_001)
            let message = OutgoingMessage(exchange: "", routingKey: "amqp.large", body: body, messageID: "large")
            #expect(await publisher.publish(message) == .confirmed)
            let consumer = bench.makeConsumer("amqp.large", messageBytesMax: 300_000)
            await bench.wait("delivery") { bench.deliveries.count == 1 }
            #expect(bench.deliveries[0].isOversized)
            #expect(bench.deliveries[0].bodySize == 300_001)
            consumer.reject(bench.deliveries[0].tag, requeue: false)
            await consumer.close()
            var dead = try await admin.get(from: "amqp.large.dead")
            for _ in 0..<100 where dead == nil {
                await bench.loop.sleep(for: .milliseconds(20))
                dead = try await admin.get(from: "amqp.large.dead")
            }
            #expect(dead?.body == body)
            await publisher.close()
            await admin.close()
        }
    }

    @Test func acknowledgmentsInAnyOrderKeepTheChannel() async throws {
        try await Self.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("amqp.acks", arguments: ["x-queue-type": "quorum"])
            let publisher = bench.makePublisher()
            let count = 2000
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            await bench.publish(count, to: "amqp.acks")
            var random = SeededRandom(seed: 5)
            let consumer = bench.makeConsumer("amqp.acks", prefetch: 100)
            var states: [BrokerStatus] = []
            bench.handler(of: consumer).onStatus = { states.append($0) }
            var held: [DeliveryTag] = []
            var seen = 0
            var acknowledged = 0
            while acknowledged < count {
                await bench.wait("deliveries") { bench.deliveries.count > seen || !held.isEmpty }
                held += bench.deliveries[seen...].map(\.tag)
                seen = bench.deliveries.count
                for _ in 0..<min(held.count, 1 + random.below(20)) {
                    // The oldest delivery stays unsettled while there are others.
                    let index = held.count == 1 ? 0 : 1 + random.below(held.count - 1)
                    consumer.acknowledge(held.remove(at: index))
                    acknowledged += 1
                }
                await bench.loop.sleep(for: .milliseconds(random.below(3)))
            }
            await consumer.waitUntilSettled(by: bench.loop.now.monotonic + TestTimeout.duration)
            await consumer.close()
            #expect(
                states.filter { if case .connecting = $0 { false } else { true } } == [.ready, .closed])
            #expect(bench.deliveries.allSatisfy { !$0.isRedelivered })
            try await bench.wait("an empty queue", for: 0, in: "amqp.acks", by: admin)
            await publisher.close()
            await admin.close()
        }
    }

    // RabbitMQ's client of a quorum queue buffers settlements that follow 32 unapplied settlements, and discards the
    // buffered settlements when the channel closes.
    @Test func theLastAcknowledgedMessagesAreNotRedelivered() async throws {
        try await Self.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("amqp.last", arguments: ["x-queue-type": "quorum"])
            let publisher = bench.makePublisher()
            let count = 2000
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            await bench.publish(count, to: "amqp.last")
            let consumer = bench.makeConsumer("amqp.last", prefetch: count)
            await bench.wait("deliveries") { bench.deliveries.count == count }
            for (number, delivery) in bench.deliveries.enumerated() where !number.isMultiple(of: 4) {
                consumer.acknowledge(delivery.tag)
            }
            await consumer.waitUntilSettled(by: bench.loop.now.monotonic + TestTimeout.duration)
            await consumer.close()
            try await bench.wait("the others, and no more", for: count / 4, in: "amqp.last", by: admin)
            await publisher.close()
            await admin.close()
        }
    }

    @Test func aWrongPasswordAndAMissingVirtualHostAreReported() async throws {
        try await Self.play { bench in
            bench.connection.credentials.password = "wr0ng"
            let admin = bench.makeAdmin()
            let refused = await #expect(throws: AMQPError.self) { try await admin.declareQueue("amqp.x") }
            #expect(refused?.code == .accessRefused)
            #expect(refused?.replyCode == 403)
            await admin.close()
            bench.connection.credentials = bench.url.credentials
            bench.connection.virtualHost = "amqp.missing"
            let other = bench.makeAdmin()
            let missing = await #expect(throws: AMQPError.self) { try await other.declareQueue("amqp.x") }
            #expect(missing?.replyCode == 530)
            await other.close()
        }
    }

    @Test func theConsumerWaitsForADeletedQueue() async throws {
        try await Self.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("amqp.deleted")
            let consumer = bench.makeConsumer("amqp.deleted")
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            try await admin.deleteQueue("amqp.deleted")
            await bench.wait("cancel") { if case .waiting = consumer.status { true } else { false } }
            try await admin.declareQueue("amqp.deleted")
            await bench.wait("ready") { consumer.status == .ready }
            await consumer.stopConsuming()
            #expect(try await admin.status(ofQueue: "amqp.deleted").consumers == 0)
            await consumer.close()
            await admin.close()
        }
    }

    @Test func nothingIsLostOverTLSAndThroughAKillAndARestart() async throws {
        let authority = try CertificateAuthority.make()
        let certificate = try authority.issueServer(dnsNames: ["localhost"])
        let directory = try TemporaryDirectory()
        let broker = try await PrivateBroker(
            certificate: (
                try directory.write("certificate.pem", certificate.certificatePEM),
                try directory.write("key.pem", certificate.privateKeyPEM)
            ))
        let url = try #require(broker.tlsURL)
        try await Self.play(url: url) { bench in
            #expect(bench.url.usesTLS)
            let plain = bench.makeAdmin()
            let alert = await #expect(throws: AMQPError.self) { try await plain.declareQueue("q") }
            #expect(alert?.message.contains("accepts only TLS; write amqps://") == true, "\(String(describing: alert))")
            await plain.close()
            // A certificate of another authority is refused, and the refusal is reported.
            let stranger = try CertificateAuthority.make().certificatePEM
            let distrusting = try TLSContext(client: TLSClientConfiguration(trust: .pem(stranger)))
            bench.tls = distrusting
            let wary = bench.makeAdmin()
            let refused = await #expect(throws: AMQPError.self) { try await wary.declareQueue("q") }
            #expect(refused?.isRetriable == false)
            await wary.close()
            let crossed = TLSConnector(
                loop: bench.loop, endpoint: Endpoint(host: "127.0.0.1", port: broker.port),
                context: distrusting)
            let unencrypted = BrokerAdmin(loop: bench.loop, connectors: [crossed], connection: bench.connection)
            unencrypted.start()
            let answer = await #expect(throws: AMQPError.self) { try await unencrypted.declareQueue("q") }
            #expect(answer?.message.contains("write amqp://") == true, "\(String(describing: answer))")
            await unencrypted.close()

            bench.tls = try TLSContext(client: TLSClientConfiguration(trust: .pem(authority.certificatePEM)))
            let admin = bench.makeAdmin()
            try await admin.declareQueue("q", arguments: ["x-queue-type": "quorum"])
            let publisher = bench.makePublisher()
            let large = [UInt8](repeating: 9, count: 1 << 20)
            #expect(
                await publisher.publish(OutgoingMessage(exchange: "", routingKey: "q", body: large, messageID: "1"))
                    == .confirmed)
            let consumer = bench.makeConsumer("q")
            await bench.wait("delivery") { bench.deliveries.count == 1 }
            #expect(bench.deliveries[0].body == large)
            consumer.requeue(bench.deliveries[0].tag)

            // A quorum queue younger than a second does not survive the kill, because its name is written to disk late.
            await bench.loop.sleep(for: .seconds(3))
            try await broker.kill()
            await bench.wait("loss") { if case .ready = consumer.status { false } else { true } }
            try await broker.start()
            await bench.wait("redelivery") { bench.deliveries.last?.tag.generation ?? 0 > 1 }
            #expect(bench.deliveries.last?.body == large)
            if let tag = bench.deliveries.last?.tag { consumer.acknowledge(tag) }
            try await publisher.waitUntilReady(deadlineSeconds: TestTimeout.seconds)
            let second = OutgoingMessage(exchange: "", routingKey: "q", body: [1], messageID: "2")
            #expect(await publisher.publish(second) == .confirmed)
            await bench.wait("the second message") { bench.deliveries.last?.body == [1] }
            await consumer.close()
            await publisher.close()
            await admin.close()
        }
        try await broker.end()
    }

    @Test func aMissingQueueOnOneChannelAffectsNoOther() async throws {
        try await Self.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("amqp.present", arguments: ["x-queue-type": "quorum"])
            let connection = bench.makeConnection()
            let missing = Consumer(
                on: connection, configuration: ConsumerConfiguration(queue: "amqp.late", prefetch: 7))
            missing.start(TestConsumerHandler())
            let present = bench.makeConsumer("amqp.present", on: connection)
            await bench.wait("refusal") { if case .waiting = missing.status { true } else { false } }
            guard case .waiting(let error, _) = missing.status else { return fail("\(missing.status)") }
            #expect(error.code == .notFound)
            #expect(error.message == "queue amqp.late is missing")
            try await present.waitUntilReady(deadlineSeconds: 10)
            #expect(connection.status == .ready)
            let publisher = bench.makePublisher()
            let message = OutgoingMessage(exchange: "", routingKey: "amqp.present", body: [1], messageID: "1")
            #expect(await publisher.publish(message) == .confirmed)
            await bench.wait("delivery") { bench.deliveries.count == 1 }
            try await admin.declareQueue("amqp.late", arguments: ["x-queue-type": "quorum"])
            await bench.wait("ready") { missing.status == .ready }
            #expect(present.holds(bench.deliveries[0].tag), "the missing queue affected another channel")
            present.acknowledge(bench.deliveries[0].tag)
            await missing.close()
            #expect(missing.status == .closed)
            #expect(present.status == .ready)
            await connection.close()
            try await bench.wait("an empty queue", for: 0, in: "amqp.present", by: admin)
            await publisher.close()
            await admin.close()
        }
    }

    @Test func aConsumerPausesAndResumes() async throws {
        try await Self.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("amqp.pause", arguments: ["x-queue-type": "quorum"])
            let publisher = bench.makePublisher()
            let connection = bench.makeConnection()
            let consumer = bench.makeConsumer("amqp.pause", on: connection)
            var losses = 0
            bench.handler(of: consumer).onChannelLost = { losses += 1 }
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            for _ in 0..<3 {
                consumer.pause()
                consumer.resume()
            }
            consumer.pause()
            await consumer.stopConsuming(deadlineSeconds: 10)
            #expect(try await admin.status(ofQueue: "amqp.pause").consumers == 0)
            func publish(_ number: UInt8) async -> PublishOutcome {
                await publisher.publish(
                    OutgoingMessage(exchange: "", routingKey: "amqp.pause", body: [number], messageID: "\(number)"))
            }
            #expect(await publish(1) == .confirmed)
            consumer.resume()
            await bench.wait("a delivery") { bench.deliveries.count == 1 }
            #expect(bench.deliveries[0].deliveryCount == 0)
            consumer.requeue(bench.deliveries[0].tag)
            await bench.wait("a redelivery") { bench.deliveries.count == 2 }
            #expect(bench.deliveries[1].isRedelivered)
            #expect(bench.deliveries[1].deliveryCount == 1)
            consumer.reject(bench.deliveries[1].tag, requeue: true)
            await bench.wait("another redelivery") { bench.deliveries.count == 3 }
            consumer.pause()
            await consumer.stopConsuming(deadlineSeconds: 10)
            consumer.reject(bench.deliveries[2].tag, requeue: true)
            #expect(await publish(2) == .confirmed)
            consumer.resume()
            await bench.wait("deliveries") { bench.deliveries.count == 5 }
            #expect(Set(bench.deliveries[3...].map { [$0.body[0], UInt8($0.deliveryCount)] }) == [[1, 3], [2, 0]])
            #expect(consumer.status == .ready)
            #expect(losses == 0)
            for delivery in bench.deliveries[3...] { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            #expect(losses == 1)
            #expect(connection.status == .ready)
            try await bench.wait("an empty queue", for: 0, in: "amqp.pause", by: admin)
            await connection.close()
            await publisher.close()
            await admin.close()
        }
    }

}
