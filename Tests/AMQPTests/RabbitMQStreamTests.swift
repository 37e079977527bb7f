import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Readers of streams at a real RabbitMQ.
@Suite struct RabbitMQStreamTests {
    private static let arguments: FieldTable = [
        "x-queue-type": "stream", "x-max-length-bytes": 20_000_000, "x-max-age": "72h",
    ]

    /// Publishes one message at a time, so that each message is a chunk.
    private static func publish(
        _ texts: [String], to stream: String, _ publisher: Publisher, _ bench: isolated RabbitMQTests.Bench
    ) async {
        for text in texts {
            let message = OutgoingMessage(
                exchange: "", routingKey: stream, body: Array(text.utf8), messageID: text)
            #expect(await publisher.publish(message) == .confirmed)
        }
    }

    @Test func readersStartAtTheirPositions() async throws {
        try await RabbitMQTests.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("stream.positions", arguments: Self.arguments)
            try await admin.declareQueue("stream.positions", arguments: Self.arguments)
            let publisher = bench.makePublisher()
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            let connection = bench.makeConnection()
            let early = RecordedReader("stream.positions", on: connection, from: .last)
            await bench.wait("attached") { early.isAttached }
            await Self.publish(["0", "1", "2", "3"], to: "stream.positions", publisher, bench)
            let expected: [(StreamPosition, Int64)] = [
                (.first, 0), (.last, 3), (.next, 4), (.offset(2), 2), (.offset(5), 5),
            ]
            let readers = expected.map { RecordedReader("stream.positions", on: connection, from: $0.0) }
            await bench.wait("attached") { readers.allSatisfy(\.isAttached) }
            // A reader that starts late receives the newest message without a later publish.
            await bench.wait("the newest message") { readers[1].texts == ["3"] }
            await Self.publish(["4", "5"], to: "stream.positions", publisher, bench)
            for (recorded, (position, first)) in zip(readers, expected) {
                await bench.wait("messages from \(position)") { recorded.offsets.last == 5 }
                #expect(recorded.offsets == Array(first...5), "\(position)")
                #expect(recorded.texts == recorded.offsets.map { "\($0)" })
                await recorded.reader.close()
                #expect(recorded.events == ["position \(position)", "attached", "detached: closed"])
            }
            await bench.wait("messages of an empty stream") { early.offsets == [0, 1, 2, 3, 4, 5] }
            await early.reader.close()
            try await admin.deleteQueue("stream.positions")
            await connection.close()
            await publisher.close()
            await admin.close()
        }
    }

    // Concurrent publishes share chunks, and a chunk may exceed the prefetch.
    @Test(arguments: [1, 100]) func chunksAreDeliveredWhole(prefetch: Int) async throws {
        let stream = "stream.chunks.\(prefetch)"
        try await RabbitMQTests.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue(stream, arguments: Self.arguments)
            let publisher = bench.makePublisher()
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            let count = 1000
            await bench.publish(count, to: stream)
            let connection = bench.makeConnection()
            let all = RecordedReader(stream, on: connection, from: .first, prefetch: prefetch)
            await bench.wait("all messages") { all.messages.count >= count }
            #expect(all.offsets == Array(0..<Int64(count)))
            let newest = RecordedReader(stream, on: connection, from: .last, prefetch: prefetch)
            await bench.wait("the newest message") { newest.offsets.last == Int64(count) - 1 }
            #expect(newest.offsets == Array(newest.offsets[0]..<Int64(count)))
            try await admin.deleteQueue(stream)
            await connection.close()
            await publisher.close()
            await admin.close()
        }
    }

    @Test func aReaderContinuesAfterItsConnectionIsKilled() async throws {
        try await RabbitMQTests.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("stream.killed", arguments: Self.arguments)
            let publisher = bench.makePublisher()
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            await Self.publish(["0", "1"], to: "stream.killed", publisher, bench)
            let connection = bench.makeConnection()
            let recorded = RecordedReader("stream.killed", on: connection, from: .first)
            await bench.wait("messages") { recorded.texts == ["0", "1"] }
            // rabbitmqctl would also close the connections of other tests, or keep the shared broker busy.
            connection.frames?.reset(AMQPError(.connectionLost, "killed"))
            await bench.wait("detached") { recorded.count("detached: connectionLost") == 1 }
            await Self.publish(["2", "3"], to: "stream.killed", publisher, bench)
            await bench.wait("messages") { recorded.messages.count >= 4 }
            #expect(recorded.texts == ["0", "1", "2", "3"])
            #expect(recorded.offsets == [0, 1, 2, 3])
            #expect(recorded.count("attached") == 2)
            await recorded.reader.close()
            await connection.close()
            await publisher.close()
            await admin.close()
        }
    }

    @Test func aStreamThatIsDeclaredAgainIsReadAgain() async throws {
        try await RabbitMQTests.play { bench in
            let admin = bench.makeAdmin()
            let connection = bench.makeConnection()
            let recorded = RecordedReader("stream.again", on: connection, from: .first)
            recorded.position = .first
            await bench.wait("refusal") { recorded.count("waiting: notFound") > 0 }
            let publisher = bench.makePublisher()
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            for (round, text) in ["old", "new"].enumerated() {
                try await admin.declareQueue("stream.again", arguments: Self.arguments)
                await Self.publish([text], to: "stream.again", publisher, bench)
                await bench.wait("message") { recorded.texts.last == text }
                #expect(recorded.offsets == Array(repeating: 0, count: round + 1))
                try await admin.deleteQueue("stream.again")
                await bench.wait("cancel") { recorded.count("detached: consumerCancelled") == round + 1 }
            }
            #expect(recorded.count("attached") == 2)
            #expect(connection.status == .ready)
            await connection.close()
            await publisher.close()
            await admin.close()
        }
    }

    @Test func aReaderWithoutTheRightToReadIsRefused() async throws {
        let broker = try await PrivateBroker.shared
        try await broker.rabbitmqctl("add_user", "unreading", "word")
        try await broker.rabbitmqctl("set_permissions", "unreading", ".*", ".*", "^$")
        try await RabbitMQTests.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("stream.refused", arguments: Self.arguments)
            bench.connection.credentials = AMQPCredentials(user: "unreading", password: "word")
            let connection = bench.makeConnection()
            let recorded = RecordedReader("stream.refused", on: connection, from: .first)
            let error = await #expect(throws: AMQPError.self) {
                try await recorded.reader.waitUntilReady(deadlineSeconds: TestTimeout.seconds)
            }
            #expect(error?.code == .accessRefused)
            #expect(error?.detail == .refusedResource("stream.refused"))
            #expect(recorded.events == ["position first", "waiting: accessRefused"])
            try await admin.deleteQueue("stream.refused")
            await connection.close()
            await admin.close()
        }
    }

    // The messages of another kind of queue must survive a reader that is configured with its name.
    @Test func aQueueThatIsNoStreamKeepsItsMessages() async throws {
        try await RabbitMQTests.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("stream.none", arguments: ["x-queue-type": "classic"])
            let publisher = bench.makePublisher()
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            await Self.publish(["0"], to: "stream.none", publisher, bench)
            let connection = bench.makeConnection()
            let recorded = RecordedReader("stream.none", on: connection, from: .first)
            await bench.wait("refusal") {
                if case .waiting(let error, _) = recorded.reader.status { !error.isRetriable } else { false }
            }
            #expect(recorded.messages.isEmpty)
            await recorded.reader.close()
            try await bench.wait("the message", for: 1, in: "stream.none", by: admin)
            try await admin.deleteQueue("stream.none")
            await connection.close()
            await publisher.close()
            await admin.close()
        }
    }
}
