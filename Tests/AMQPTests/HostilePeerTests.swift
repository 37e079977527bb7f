import AMQP
import EventLoop
import TestKit
import Testing

/// Untrusted input from a broker. Invalid bytes close the connection with an error, and have no other effect.
@Suite struct HostilePeerTests {
    /// A server that sends the bytes of a session to a client, and records the client's bytes. It sends `later` after
    /// pauses.
    final class Player: ByteStreamHandler {
        private let record: RecordedSession?
        private var bytes: [UInt8]
        private var later: ArraySlice<[UInt8]>
        private let pause: Duration
        private var transport: ByteTransport?

        init(
            _ bytes: [UInt8], later: [[UInt8]] = [], pause: Duration = .seconds(1), record: RecordedSession? = nil
        ) {
            self.bytes = bytes
            self.later = later[...]
            self.pause = pause
            self.record = record
        }

        override func connected(_ transport: ByteTransport) {
            self.transport = transport
            transport.loop.flushAfterIteration(self)
            playNext(transport)
        }

        private func playNext(_ transport: ByteTransport) {
            guard let next = later.popFirst() else { return }
            transport.loop.schedule(after: pause) { [self] in
                bytes = next
                transport.loop.flushAfterIteration(self)
                playNext(transport)
            }
        }

        override func flush() {
            _ = bytes.withUnsafeBytes { transport?.write($0) }
        }

        override func received(_ bytes: UnsafeRawBufferPointer) {
            record?.bytes += bytes
        }

        override func peerFinished() {
            transport?.close()
        }

        override func closed(_ error: TransportError?) {
            transport = nil
        }
    }

    static func frame(_ channel: UInt16, _ write: (inout WireWriter) -> Void) -> [UInt8] {
        frame(1, channel, write)
    }

    static func frame(_ type: UInt8, _ channel: UInt16, _ write: (inout WireWriter) -> Void) -> [UInt8] {
        var payload = WireWriter()
        write(&payload)
        return FrameSplitterTests.frame(type, channel, payload.bytes)
    }

    static func method(
        _ channel: UInt16, _ classID: UInt16, _ id: UInt16, _ write: (inout WireWriter) -> Void = { _ in }
    )
        -> [UInt8]
    {
        frame(channel) { writer in
            writer.short(classID)
            writer.short(id)
            write(&writer)
        }
    }

    /// The bytes that a broker sends, from the first byte until a message is delivered.
    static let session: [[UInt8]] = [
        method(0, 10, 10) { writer in
            writer.octet(0)
            writer.octet(9)
            writer.table(["product": "x", "capabilities": .table(["basic.nack": true])])
            writer.longString(Array("PLAIN".utf8))
            writer.longString(Array("en_US".utf8))
        },
        method(0, 10, 30) { writer in
            writer.short(2047)
            writer.long(8192)
            writer.short(30)
        },
        method(0, 10, 41) { $0.shortString("") },
        method(1, 20, 11) { $0.longString([]) },
        method(1, 60, 11),
        method(1, 60, 21) { $0.shortString("martlet-1") },
        frame(8, 0) { _ in },
        method(1, 60, 60) { writer in
            writer.shortString("martlet-1")
            writer.longLong(1)
            writer.octet(0)
            writer.shortString("exchange")
            writer.shortString("key")
        },
        frame(2, 1) { writer in
            writer.short(60)
            writer.short(0)
            writer.longLong(10)
            writer.short(0x2080)
            writer.table(["a": 1, "b": .table(["c": "d"])])
            writer.shortString("id")
        },
        frame(3, 1) { $0.raw(Array("hello".utf8)) },
        frame(3, 1) { $0.raw(Array("world".utf8)) },
    ]

    /// Connects a consumer to a broker that sends `bytes`, and acknowledges the deliveries. Returns the bytes that
    /// the client sent, the deliveries, and the states of the consumer.
    private static func play(_ bytes: [UInt8], seed: UInt64 = 1) -> RecordedSession {
        let record = RecordedSession()
        AMQPHarness.play(seed: seed) { harness in
            harness.loop.network.latencyMicroseconds = 1...5
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Player(bytes, record: record)
            }
            let consumer = harness.makeConsumer()
            await harness.pass(.milliseconds(50))
            listener.close()
            for delivery in harness.deliveries { consumer.acknowledge(delivery.tag) }
            record.deliveries = harness.deliveredTexts
            record.states = harness.states
            await consumer.close(deadlineSeconds: 1)
        }
        return record
    }

    final class RecordedSession: @unchecked Sendable {
        /// The bytes that the client sent.
        var bytes: [UInt8] = []
        var deliveries: [String] = []
        var states: [String] = []
    }

    /// Answers of other protocols, with the expected errors.
    private static let foreignAnswers: [([UInt8], String)] = [
        ([21, 3, 1, 0, 2, 2, 10], "this port accepts only TLS; write amqps://, or use the port without TLS (5672)"),
        (
            Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
            "this port serves HTTP; use the AMQP port (5672, or 5671 with amqps://)"
        ),
        (Array("AMQP".utf8) + [0, 1, 0, 0], "the broker does not support AMQP 0-9-1"),
        (Array("SSH-2.0-OpenSSH".utf8), "the broker sent bytes that are not an AMQP 0-9-1 frame"),
    ]

    @Test(arguments: foreignAnswers) func aPortOfAnotherProtocolIsNamed(answer: [UInt8], text: String) {
        AMQPHarness.play { harness in
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Player(answer)
            }
            let connection = harness.makeConnection()
            let failures = harness.recordFailures(of: connection)
            await harness.wait("failure") { !failures.texts.isEmpty }
            #expect(failures.texts[0] == "protocolViolation: cannot log in at broker:5672 as guest: \(text)")
            listener.close()
        }
    }

    // RabbitMQ's management API waits for the rest of a request, and then closes the connection.
    @Test func aPortThatClosesWithoutAnAnswerIsToBeChecked() {
        AMQPHarness.play { harness in
            let endpoint = Endpoint(host: "broker", port: 15672)
            let listener = try harness.loop.listen(on: endpoint) { transport in
                transport.loop.schedule(after: .seconds(5)) { transport.close() }
            }
            let connection = BrokerConnection(
                loop: harness.loop, connectors: [ByteConnector(loop: harness.loop, endpoint: endpoint)],
                configuration: harness.connection)
            let failures = harness.recordFailures(of: connection)
            connection.start()
            await harness.wait("failure") { !failures.texts.isEmpty }
            #expect(
                failures.texts[0]
                    == "cannotConnect: cannot log in at broker:15672 as guest: the broker closed the connection; "
                    + "check that 15672 is the AMQP port (5672, or 5671 with amqps://)")
            await connection.close(deadlineSeconds: 1)
            listener.close()
        }
    }

    @Test func theUnchangedSessionIsValid() {
        let record = Self.play(Self.session.flatMap { $0 })
        #expect(record.deliveries == ["helloworld"])
        #expect(record.states == ["consumer connecting", "consumer ready"])
        #expect(record.bytes == Self.answers.flatMap { $0 })
    }

    /// The bytes that the consumer sends, from the first byte until it has closed the connection.
    private static let answers: [[UInt8]] = [
        Array("AMQP".utf8) + [0, 0, 9, 1],
        method(0, 10, 11) { writer in
            writer.table([
                "product": "Martlet", "platform": "Swift", "connection_name": "martlet",
                "capabilities": .table([
                    "consumer_cancel_notify": true, "connection.blocked": true, "publisher_confirms": true,
                    "basic.nack": true, "exchange_exchange_bindings": true, "authentication_failure_close": true,
                    "per_consumer_qos": true,
                ]),
            ])
            writer.shortString("PLAIN")
            writer.longString(Array("\0guest\0guest".utf8))
            writer.shortString("en_US")
        },
        method(0, 10, 31) { writer in
            writer.short(UInt16(BrokerConnection.channelsMax))
            writer.long(8192)
            writer.short(30)
        },
        method(0, 10, 40) { writer in
            writer.shortString("/")
            writer.shortString("")
            writer.octet(0)
        },
        method(1, 20, 10) { $0.shortString("") },
        method(1, 60, 10) { writer in
            writer.long(0)
            writer.short(10)
            writer.octet(0)
        },
        method(1, 60, 20) { writer in
            writer.short(0)
            writer.shortString("in")
            writer.shortString("martlet-1")
            writer.octet(0)
            writer.table([:])
        },
        method(1, 60, 80) { writer in
            writer.longLong(1)
            writer.octet(0)
        },
        method(0, 10, 50) { writer in
            writer.short(200)
            writer.shortString("")
            writer.short(0)
            writer.short(0)
        },
    ]

    @Test func aConnectionThatTheBrokerClosesIsAnswered() {
        let close = Self.method(0, 10, 50) { writer in
            writer.short(320)
            writer.shortString("CONNECTION_FORCED")
            writer.raw([0, 0, 0, 0])
        }
        let record = Self.play(Self.session.flatMap { $0 } + close)
        #expect(record.states.contains("consumer waiting: connectionForced"))
        #expect(record.bytes.starts(with: Self.answers[..<7].flatMap { $0 } + Self.method(0, 10, 51)))
    }

    @Test func anUnexpectedReplyEndsTheConnection() {
        AMQPHarness.play { harness in
            let login = Self.session[..<4].flatMap { $0 }
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Player(login, later: [Self.method(1, 60, 80) { $0.raw([0, 0, 0, 0, 0, 0, 0, 1, 0]) }])
            }
            let admin = harness.makeAdmin()
            let error = await #expect(throws: AMQPError.self) { try await admin.status(ofQueue: "q") }
            #expect(error?.code == .protocolViolation)
            listener.close()
            await admin.close(deadlineSeconds: 1)
        }
    }

    @Test func anUnrequestedAnswerEndsTheConnection() {
        AMQPHarness.play { harness in
            let login = Self.session[..<4].flatMap { $0 }
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Player(login, later: [Self.method(1, 50, 21)])
            }
            let admin = harness.makeAdmin()
            await harness.wait("loss") { harness.states.contains("admin waiting: protocolViolation") }
            listener.close()
            await admin.close(deadlineSeconds: 1)
        }
    }

    @Test func anUnansweredPauseClosesTheChannel() {
        AMQPHarness.play { harness in
            harness.connection.heartbeatSeconds = 0
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Player(Self.session[..<6].flatMap { $0 })
            }
            let consumer = harness.makeConsumer()
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            consumer.pause()
            await harness.wait("time-out") { harness.states.contains("consumer waiting: timedOut") }
            listener.close()
            await consumer.close(deadlineSeconds: 1)
        }
    }

    // A publisher has no consumer. The content of the delivery never arrives.
    @Test func aDeliveryToAPublisherEndsTheConnection() {
        AMQPHarness.play { harness in
            let login = Self.session[..<4].flatMap { $0 } + Self.method(1, 85, 11)
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Player(login, later: [Self.session[7]])
            }
            let publisher = harness.makePublisher()
            await harness.wait("loss") { harness.states.contains("publisher waiting: protocolViolation") }
            listener.close()
            await publisher.close(deadlineSeconds: 1)
        }
    }

    // If the return were attributed to another message, the returned message would count as confirmed.
    @Test(arguments: [nil, "other"] as [String?]) func aReturnOfAnUnknownMessageEndsTheConnection(messageID: String?) {
        AMQPHarness.play { harness in
            let returned =
                Self.method(1, 60, 50) { writer in
                    writer.short(312)
                    writer.shortString("NO_ROUTE")
                    writer.shortString("")
                    writer.shortString("out")
                }
                + Self.frame(2, 1) { writer in
                    writer.raw([0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
                    writer.short(messageID == nil ? 0 : 0x80)
                    if let messageID { writer.shortString(messageID) }
                }
            let confirm = Self.method(1, 60, 80) { $0.raw([0, 0, 0, 0, 0, 0, 0, 1, 0]) }
            let login = Self.session[..<4].flatMap { $0 } + Self.method(1, 85, 11)
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Player(login, later: [returned + confirm])
            }
            let publisher = harness.makePublisher()
            let outcome = await publisher.publish(AMQPHarness.message("mine"))
            guard case .unknown(let error) = outcome else { return fail("\(outcome)") }
            #expect(error.code == .protocolViolation)
            listener.close()
            await publisher.close(deadlineSeconds: 1)
        }
    }

    @Test func aConnectionThatTheBrokerEndsSilentlyIsReopened() {
        AMQPHarness.play { harness in
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) { transport in
                transport.handler = Player(Self.session.flatMap { $0 })
                transport.loop.schedule(after: .seconds(1)) { transport.close() }
            }
            let consumer = harness.makeConsumer()
            await harness.wait("loss") { harness.states.contains("consumer waiting: connectionLost") }
            listener.close()
            await consumer.close()
        }
    }

    @Test func aSessionCutAtAnyByteIsHarmless() {
        let bytes = Self.session.flatMap { $0 }
        for count in stride(from: 0, to: bytes.count, by: 3) {
            #expect(Self.play(Array(bytes[..<count])).deliveries.isEmpty)
        }
    }

    @Test func framesOutOfOrderEndTheConnection() {
        for index in Self.session.indices where index != 6 {
            var without = Self.session
            without.remove(at: index)
            let states = Self.play(without.flatMap { $0 }).states
            // Without the answer to basic.consume, or without a part of the body, the client waits.
            if ![5, 9, 10].contains(index) {
                #expect(
                    states.contains("consumer waiting: protocolViolation"),
                    "a session without frame \(index) was accepted")
            }
            var twice = Self.session
            twice.insert(twice[index], at: index)
            #expect(
                Self.play(twice.flatMap { $0 }).states.contains("consumer waiting: protocolViolation"),
                "a session with frame \(index) twice was accepted")
        }
    }

    @Test func anAnswerBeforeTheChannelIsOpenEndsTheConnection() {
        let login = Self.session[..<3].flatMap { $0 }
        #expect(Self.play(login + Self.session[4]).states.contains("consumer waiting: protocolViolation"))
    }

    @Test(arguments: [
        // The protocol header of another version, and bytes that are not AMQP.
        Array("AMQP".utf8) + [0, 1, 0, 0], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
        // A frame of 4 GiB, and a frame longer than allowed during the login.
        [1, 0, 0, 255, 255, 255, 255], [1, 0, 0, 0, 1, 0, 0],
    ])
    func invalidFramesEndTheConnection(bytes: [UInt8]) {
        #expect(Self.play(bytes).states.contains("consumer waiting: protocolViolation"))
    }

    @Test func methodsOfServersAndUnknownOnesEndTheConnection() {
        let login = Self.session[..<6].flatMap { $0 }
        // queue.declare contains a table that librabbitmq would decode recursively.
        let declare = Self.method(1, 50, 10) { writer in
            writer.short(0)
            writer.shortString("q")
            writer.octet(0)
            writer.table([:])
        }
        for bad in [
            declare, Self.method(1, 90, 10), Self.method(0, 60, 80), Self.method(2, 60, 60), Self.frame(1) { _ in },
        ] {
            #expect(Self.play(login + bad).states.contains("consumer waiting: protocolViolation"))
        }
    }

    @Test func tablesNestedToTheFramesLimitAreDelivered() {
        var table: [UInt8] = []
        let levels = 1600
        for level in 0..<levels {
            let inner = (levels - level - 1) * 5
            table += [UInt8(ascii: "A")] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: inner >> $0) }
        }
        var session = Self.session
        session[8] = Self.frame(2, 1) { writer in
            writer.short(60)
            writer.short(0)
            writer.longLong(10)
            writer.short(0x2000)
            writer.longString([1, UInt8(ascii: "n")] + table)
        }
        #expect(Self.play(session.flatMap { $0 }).deliveries == ["helloworld"])
    }

    /// Bytes changed, removed and inserted at random positions of a valid session.
    @Test(arguments: UInt64(0)..<300)
    func changedBytesNeverDoHarm(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bytes = Self.session.flatMap { $0 }
        for _ in 0...random.below(4) {
            let index = random.below(bytes.count)
            switch random.below(4) {
            case 0: bytes.remove(at: index)
            case 1: bytes.insert(UInt8(random.below(256)), at: index)
            case 2: bytes[index] ^= 1 << UInt8(random.below(8))
            default: bytes[index] = UInt8(random.below(256))
            }
        }
        _ = Self.play(bytes, seed: seed)
    }

    /// A valid login, followed by well-formed frames with random content.
    @Test(arguments: UInt64(0)..<300)
    func randomFramesNeverDoHarm(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bytes = Self.session[..<6].flatMap { $0 }
        let methods: [(UInt16, UInt16)] = [
            (60, 60), (60, 80), (60, 120), (60, 50), (60, 71), (60, 30), (60, 31), (20, 40), (10, 50), (10, 60),
            (50, 11),
        ]
        for _ in 0..<20 {
            let noise = (0..<random.below(60)).map { _ in UInt8(random.below(256)) }
            switch random.below(4) {
            case 0:
                bytes += Self.frame(2, 1) {
                    $0.raw([0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(random.below(9))] + noise)
                }
            case 1: bytes += Self.frame(3, 1) { $0.raw(noise) }
            default:
                let (classID, id) = methods[random.below(methods.count)]
                bytes += Self.method(UInt16(random.below(2)), classID, id) { $0.raw(noise) }
            }
        }
        _ = Self.play(bytes, seed: seed)
    }

    private static func delivery(_ number: Int) -> [UInt8] {
        method(1, 60, 60) { writer in
            writer.shortString("martlet-1")
            writer.longLong(UInt64(number))
            writer.octet(0)
            writer.shortString("")
            writer.shortString("in")
        }
            + frame(2, 1) { $0.raw([0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) }
    }

    // On a slow link, the answer to `basic.cancel` follows all deliveries in transit.
    @Test func theClientWaitsForAnAnswerBehindDeliveries() {
        AMQPHarness.play { harness in
            let login = Self.session[..<6].flatMap { $0 }
            let later = (1...6).map(Self.delivery) + [Self.method(1, 60, 31) { $0.shortString("martlet-1") }]
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Player(login, later: later, pause: .seconds(10))
            }
            let consumer = harness.makeConsumer()
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            consumer.acknowledge(harness.deliveries[0].tag)
            #expect(await consumer.waitUntilSettled(by: harness.loop.now.monotonic + .seconds(100)))
            #expect(harness.deliveries.count == 6)
            listener.close()
        }
    }

    @Test func deliveriesBeyondThePrefetchEndTheConnection() {
        let most = 36
        func deliveries(_ count: Int) -> [UInt8] { (1...count).flatMap(Self.delivery) }
        let login = Self.session[..<6].flatMap { $0 }
        let good = Self.play(login + deliveries(most))
        #expect(good.deliveries.count == most)
        #expect(good.states == ["consumer connecting", "consumer ready"])
        let bad = Self.play(login + deliveries(most + 1))
        #expect(bad.deliveries.count == most)
        #expect(bad.states.contains("consumer waiting: protocolViolation"))
    }
}
