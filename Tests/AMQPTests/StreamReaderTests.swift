import AMQP
import EventLoop
import TestKit
import Testing

@Suite struct StreamReaderTests {
    /// Starts the broker and declares the stream "s" with messages of these texts.
    private static func start(_ harness: isolated AMQPHarness, _ texts: [String] = [], chunkMessages: Int = 1) throws {
        try harness.broker.start()
        declare(harness, texts, chunkMessages: chunkMessages)
    }

    private static func declare(_ harness: isolated AMQPHarness, _ texts: [String] = [], chunkMessages: Int = 1) {
        harness.broker.declareQueue("s", arguments: ["x-queue-type": "stream"]).chunkMessages = chunkMessages
        harness.fill(texts, into: "s")
    }

    private static func unacknowledgedCount(_ harness: isolated AMQPHarness) -> Int? {
        harness.broker.queue("s")?.unsettled
    }

    @Test(
        arguments: [
            (.first, [0, 1, 2, 3, 4]), (.last, [2, 3, 4]), (.next, [3, 4]), (.offset(1), [1, 2, 3, 4]),
            (.offset(3), [3, 4]), (.offset(4), [4]), (.offset(.min), [0, 1, 2, 3, 4]),
        ] as [(StreamPosition, [Int64])])
    func theReaderStartsAtItsPosition(position: StreamPosition, offsets: [Int64]) {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0", "1", "2"])
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: position)
            await harness.wait("attached") { recorded.isAttached }
            harness.fill(["3", "4"], into: "s")
            await harness.wait("messages") { recorded.offsets.last == 4 }
            #expect(recorded.offsets == offsets)
            #expect(recorded.texts == offsets.map { "\($0)" })
            #expect(recorded.messages[0].properties.messageID == recorded.texts[0])
            #expect(recorded.messages[0].routingKey == "s")
            await harness.wait("acks") { Self.unacknowledgedCount(harness) == 0 }
            #expect(harness.broker.queue("s")?.ready.count == 5, "reading removed messages")
            await recorded.reader.close()
            #expect(recorded.events == ["position \(position)", "attached", "detached: closed"])
            #expect(recorded.reader.status == .closed)
        }
    }

    // After a stream was declared again, the offsets of the earlier stream mean nothing.
    @Test func anOffsetThatTheStreamHasNotReachedDeliversNothing() {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0"])
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .offset(.max))
            await harness.wait("attached") { recorded.isAttached }
            harness.fill(["1"], into: "s")
            await harness.pass(.seconds(600))
            #expect(recorded.events == ["position offset(\(Int64.max))", "attached"])
            #expect(recorded.messages.isEmpty)
            await recorded.reader.close()
        }
    }

    @Test func theWholeLastChunkIsDelivered() {
        AMQPHarness.play { harness in
            try Self.start(harness, (0..<8).map { "\($0)" }, chunkMessages: 5)
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .last, prefetch: 1)
            await harness.wait("messages") { recorded.offsets.last == 7 }
            #expect(recorded.offsets == [5, 6, 7])
            await recorded.reader.close()
        }
    }

    @Test(arguments: [-1, 1, 7, 100_000]) func acknowledgmentsGiveCredit(prefetch: Int) {
        AMQPHarness.play { harness in
            try Self.start(harness, (0..<500).map { "\($0)" }, chunkMessages: 3)
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .first, prefetch: prefetch)
            await harness.wait("messages") { recorded.messages.count == 500 }
            #expect(recorded.offsets == Array(0..<500))
            await harness.wait("acks") { Self.unacknowledgedCount(harness) == 0 }
            await recorded.reader.close()
        }
    }

    @Test func largeBodiesAreDiscarded() {
        AMQPHarness.play { harness in
            try Self.start(harness, ["abc", "abcd", "ab"])
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .first, messageBytesMax: 3)
            await harness.wait("messages") { recorded.messages.count == 3 }
            #expect(recorded.texts == ["abc", "", "ab"])
            #expect(recorded.messages.map(\.isOversized) == [false, true, false])
            #expect(recorded.messages.map(\.bodySize) == [3, 4, 2])
            #expect(recorded.offsets == [0, 1, 2])
            await harness.wait("acks") { Self.unacknowledgedCount(harness) == 0 }
            await recorded.reader.close()
        }
    }

    @Test(arguments: ["connection", "channel", "shutdown"])
    func theReaderContinuesBehindItsLastMessage(lost: String) {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0", "1"])
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .first)
            await harness.wait("messages") { recorded.messages.count == 2 }
            let code: String
            switch lost {
            case "connection":
                code = "connectionLost"
                harness.loop.network.connections[0].cut()
            case "channel":
                code = "refused"
                harness.broker.closeChannels(541, "INTERNAL_ERROR")
            default:
                code = "connectionForced"
                harness.broker.shutDown()
            }
            await harness.wait("detached") { recorded.events.contains("detached: \(code)") }
            harness.fill(["2", "3"], into: "s")
            if lost == "shutdown" { try harness.broker.start() }
            await harness.wait("messages") { recorded.messages.count == 4 }
            #expect(recorded.texts == ["0", "1", "2", "3"])
            #expect(
                recorded.events.filter { !$0.hasPrefix("waiting") }
                    == ["position first", "attached", "detached: \(code)", "position offset(2)", "attached"])
            await recorded.reader.close()
        }
    }

    // A reader that only needs the newest message, such as the pauses in force, reads it again after each loss.
    @Test func theHandlerChoosesThePositionAtEachAttach() {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0", "1"])
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .last)
            await harness.wait("message") { recorded.texts == ["1"] }
            for (position, texts) in [(.last, ["1", "1"]), (.next, ["1", "1"])] as [(StreamPosition, [String])] {
                recorded.position = position
                harness.broker.closeConnections()
                await harness.wait("position") { recorded.events.suffix(2) == ["position \(position)", "attached"] }
                await harness.pass(.seconds(1))
                #expect(recorded.texts == texts)
            }
            await recorded.reader.close()
        }
    }

    @Test func aDeletedStreamIsReadAgainOnceItExists() {
        AMQPHarness.play { harness in
            try Self.start(harness, ["old"])
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .first)
            await harness.wait("message") { recorded.texts == ["old"] }
            recorded.position = .first
            harness.broker.deleteQueue("s")
            await harness.wait("refusal") { recorded.count("waiting: notFound") > 1 }
            #expect(
                recorded.events.prefix(6) == [
                    "position first", "attached", "detached: consumerCancelled", "waiting: consumerCancelled",
                    "position first", "waiting: notFound",
                ])
            Self.declare(harness, ["new"])
            await harness.wait("message") { recorded.texts == ["old", "new"] }
            #expect(recorded.offsets == [0, 0])
            #expect(recorded.count("attached") == 2)
            #expect(recorded.count("detached: consumerCancelled") == 1)
            #expect(harness.broker.logins == 1)
            await recorded.reader.close()
        }
    }

    @Test(
        arguments: [
            (404, "NOT_FOUND - no queue 's' in vhost '/'", .notFound, true),
            (403, "ACCESS_REFUSED - access to queue 's' in vhost '/' refused for user 'w'", .accessRefused, false),
            (
                406,
                "PRECONDITION_FAILED - queue 'queue 's' in vhost '/'' does not have a replica on the local node",
                .preconditionFailed, true
            ),
        ] as [(UInt16, String, AMQPError.Code, Bool)])
    func aRefusedReaderRetries(replyCode: UInt16, text: String, code: AMQPError.Code, isRetriable: Bool) {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0"])
            harness.broker.behavior.consumeRefusals["s"] = (replyCode, text)
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .last)
            await harness.wait("retries") { recorded.count("waiting: \(code)") == 3 }
            guard case .waiting(let error, let delay) = recorded.reader.status else {
                return fail("the reader is not waiting")
            }
            #expect(error.replyCode == replyCode)
            #expect(error.isRetriable == isRetriable)
            #expect(isRetriable || delay >= .seconds(15))
            #expect(
                recorded.events == Array(repeating: ["position last", "waiting: \(code)"], count: 3).flatMap { $0 })
            harness.broker.behavior.consumeRefusals["s"] = nil
            await harness.wait("message") { recorded.texts == ["0"] }
            #expect(recorded.isAttached)
            #expect(harness.broker.logins == 1)
            await recorded.reader.close()
        }
    }

    @Test(arguments: [(406, 4), (404, 1)] as [(UInt16, Int)])
    func onlyAMissingReplicaChangesTheHost(replyCode: UInt16, logins: Int) {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0"])
            harness.broker.behavior.consumeRefusals["s"] = (replyCode, "REFUSED")
            let connection = harness.makeConnection(to: ["broker", "broker"])
            let recorded = RecordedReader("s", on: connection, from: .last)
            await harness.wait("refusals") { recorded.count("position last") == 4 }
            harness.broker.behavior.consumeRefusals["s"] = nil
            await harness.wait("message") { recorded.texts == ["0"] }
            #expect(harness.broker.logins >= logins && (logins > 1 || harness.broker.logins == 1))
            await recorded.reader.close()
            #expect(connection.status == .ready)
        }
    }

    @Test func aReaderStartsAgainFromAnotherPosition() {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0", "1", "2"])
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .last)
            recorded.reader.restart()
            await harness.wait("message") { recorded.texts == ["2"] }
            recorded.position = .offset(1)
            recorded.reader.restart()
            await harness.wait("messages") { recorded.texts == ["2", "1", "2"] }
            #expect(
                recorded.events.filter { !$0.hasPrefix("waiting") } == [
                    "position last", "attached", "detached: closed", "position offset(1)", "attached",
                ])
            #expect(harness.broker.logins == 1)
            await recorded.reader.close()
        }
    }

    @Test(arguments: ["refused", "deleted", "unanswered"]) func aClosedReaderDoesNotRetry(while state: String) {
        AMQPHarness.play { harness in
            try Self.start(harness)
            if state == "refused" { harness.broker.behavior.consumeRefusals["s"] = (404, "NOT_FOUND") }
            if state == "unanswered" { harness.broker.behavior.unansweredQueues = ["s"] }
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .next)
            switch state {
            case "refused": await harness.wait("refusal") { recorded.count("waiting: notFound") == 1 }
            case "deleted":
                await harness.wait("attached") { recorded.isAttached }
                harness.broker.deleteQueue("s")
                await harness.wait("cancel") { recorded.count("waiting: consumerCancelled") == 1 }
            default: await harness.wait("position") { recorded.events == ["position next"] }
            }
            let events = recorded.events
            await recorded.reader.close()
            #expect(recorded.reader.status == .closed)
            harness.broker.behavior.consumeRefusals = [:]
            harness.broker.behavior.unansweredQueues = []
            Self.declare(harness)
            await harness.pass(.seconds(600))
            #expect(recorded.events == events)
            #expect(harness.broker.queue("s")?.consumerCount == 0)
        }
    }

    @Test func anUnansweredConsumeIsRepeated() {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0"])
            harness.broker.behavior.unansweredQueues = ["s"]
            let recorded = RecordedReader("s", on: harness.makeConnection(), from: .first)
            await harness.wait("timeout") { recorded.count("waiting: timedOut") == 1 }
            harness.broker.behavior.unansweredQueues = []
            await harness.wait("message") { recorded.texts == ["0"] }
            #expect(recorded.events == ["position first", "waiting: timedOut", "position first", "attached"])
            await recorded.reader.close()
        }
    }

    @Test(
        arguments: [
            [:], ["x-stream-offset": "0"], ["x-stream-offset": -1], ["x-stream-offset": true],
        ] as [FieldTable])
    func aMessageWithoutAnOffsetIsNotRead(headers: FieldTable) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("s")
            harness.broker.publish(routingKey: "s", headers: headers, body: [1])
            let connection = harness.makeConnection()
            let recorded = RecordedReader("s", on: connection, from: .first)
            await harness.wait("violations") { recorded.count("waiting: protocolViolation") == 2 }
            guard case .waiting(let error, let delay) = recorded.reader.status else {
                return fail("the reader is not waiting")
            }
            #expect(error.message == "the broker sent a message of s without a stream offset")
            #expect(delay >= .seconds(15))
            #expect(recorded.messages.isEmpty)
            #expect(connection.status == .ready, "the violation affected the connection")
            await harness.wait("requeue") { harness.broker.queue("s")?.ready.count == 1 }
            harness.broker.deleteQueue("s")
            Self.declare(harness, ["0"])
            await harness.wait("message") { recorded.texts == ["0"] }
            #expect(harness.broker.logins == 1)
            await recorded.reader.close()
        }
    }

    @Test func aNameThatIsTooLongIsReported() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let recorded = RecordedReader(
                String(repeating: "s", count: 256), on: harness.makeConnection(), from: .first)
            let error = await #expect(throws: AMQPError.self) {
                try await recorded.reader.waitUntilReady(deadlineSeconds: 10)
            }
            #expect(error?.code == .preconditionFailed)
            #expect(error?.isRetriable == false)
            await recorded.reader.close()
        }
    }

    @Test func readersOfOneConnectionAreIndependent() {
        AMQPHarness.play { harness in
            try Self.start(harness, ["0"])
            let connection = harness.makeConnection()
            let missing = RecordedReader("missing", on: connection, from: .first)
            let readers = (0..<3).map { _ in RecordedReader("s", on: connection, from: .first) }
            await harness.wait("messages") { readers.allSatisfy { $0.texts == ["0"] } }
            await harness.wait("refusals") { missing.count("waiting: notFound") == 3 }
            await readers[0].reader.close()
            harness.fill(["1"], into: "s")
            await harness.wait("messages") { readers.dropFirst().allSatisfy { $0.texts == ["0", "1"] } }
            #expect(readers[0].texts == ["0"])
            #expect(readers[1].events == ["position first", "attached"])
            for recorded in readers + [missing] { await recorded.reader.close() }
            #expect(connection.status == .ready)
        }
    }
}
