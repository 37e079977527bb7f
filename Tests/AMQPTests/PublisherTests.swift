import EventLoop
import TestKit
import Testing

@testable import AMQP

@Suite struct PublisherTests {
    @Test func aConfirmedMessageIsInTheQueueUnchanged() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareExchange("results", .topic)
            harness.broker.declareQueue("out")
            harness.broker.bindQueue("out", toExchange: "results", routingKey: "result.#")
            let publisher = harness.makePublisher()
            var message = OutgoingMessage(
                exchange: "results", routingKey: "result.accepted.app", body: Array(0...255), messageID: "id-1",
                headers: [
                    "push-attempt": 3, "push-reason": "grüße", "yes": true, "at": .timestamp(seconds: 99),
                    "nested": .table(["list": .array([1, "two", .void]), "d": .double(0.5), "b": .bytes([1, 0])]),
                    "no table": .table([:]), "no list": .array([]), "no bytes": .bytes([]), "no text": "",
                ])
            message.correlationID = "corr"
            message.contentEncoding = "identity"
            message.type = "type"
            message.replyTo = "reply"
            message.appID = "martlet"
            message.timestampSeconds = 1234
            message.priority = 5
            #expect(await publisher.publish(message) == .confirmed)
            let stored = try #require(harness.broker.queue("out")?.ready.first)
            #expect(stored.exchange == "results")
            #expect(stored.routingKey == "result.accepted.app")
            #expect(stored.body == Array(0...255))
            let properties = stored.properties
            #expect(properties.messageID == "id-1")
            #expect(properties.correlationID == "corr")
            #expect(properties.contentType == "application/json")
            #expect(properties.contentEncoding == "identity")
            #expect(properties.type == "type")
            #expect(properties.replyTo == "reply")
            #expect(properties.appID == "martlet")
            #expect(properties.timestampSeconds == 1234)
            #expect(properties.priority == 5)
            #expect(properties.deliveryMode == 2)
            #expect(properties.headers == message.headers)
            await publisher.close()
        }
    }

    @Test func absentPropertiesAreNotWritten() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            #expect(await publisher.publish(AMQPHarness.message("a")) == .confirmed)
            let properties = try #require(harness.broker.queue("out")?.ready.first).properties
            #expect(properties.messageID == "a")
            #expect(properties.headers == nil)
            #expect(properties.correlationID == nil)
            #expect(properties.contentEncoding == nil)
            #expect(properties.type == nil)
            #expect(properties.replyTo == nil)
            #expect(properties.appID == nil)
            #expect(properties.timestampSeconds == nil)
            #expect(properties.priority == nil)
            await publisher.close()
        }
    }

    @Test(arguments: [0, 1, 4088, 4089, 8176, 8177, 131_064, 131_065, 1_000_000])
    func bodiesOfAnySizeArriveCompletely(size: Int) {
        AMQPHarness.play { harness in
            harness.connection.frameBytesMax = 4096
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            var random = SeededRandom(seed: UInt64(size))
            let body = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let message = OutgoingMessage(exchange: "", routingKey: "out", body: body, messageID: "")
            #expect(await publisher.publish(message) == .confirmed)
            #expect(harness.broker.queue("out")?.ready.first?.body == body)
            await publisher.close()
        }
    }

    // Reserved fields of AMQP 0-9-1 are zero. One of them is the weight in the second frame, the content header.
    // RabbitMQ refuses a weight other than zero.
    @Test func aMessageIsThreeFrames() throws {
        var writer = FrameWriter(outputBytesMax: 1000)
        let size = try writer.publish(
            OutgoingMessage(exchange: "x", routingKey: "k", body: [7], messageID: "i", contentType: nil),
            channel: 3)
        let sink = ByteSink(loop: VirtualLoop(seed: 1), handler: nil)
        expect(writer.output.write(to: sink))
        #expect(size == sink.bytes.count)
        #expect(
            sink.bytes
                == FrameSplitterTests.frame(1, 3, [0, 60, 0, 40, 0, 0, 1, 0x78, 1, 0x6B, 1])
                + FrameSplitterTests.frame(2, 3, [0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x10, 0x80, 2, 1, 0x69])
                + FrameSplitterTests.frame(3, 3, [7]))
    }

    @Test func unroutableMessagesAreReturned() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            for id in ["lost", "found"] {
                harness.publish(AMQPHarness.message(id, key: id == "found" ? "out" : "nowhere"), publisher)
            }
            await harness.wait("outcomes") { harness.outcomes.count == 2 }
            #expect(harness.outcomes == ["lost": .returned(code: 312, text: "NO_ROUTE"), "found": .confirmed])
            await publisher.close()
        }
    }

    // The messages differ only in their content, and a return carries no delivery tag.
    @Test(arguments: 1...5) func returnsReachTheirPublishesAmongMessagesWithOneID(seed: UInt64) {
        AMQPHarness.play(seed: seed) { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.returnPercent = 50
            harness.broker.behavior.confirmDelayMilliseconds = 0...20
            let publisher = harness.makePublisher()
            for number in 0..<40 {
                let message = OutgoingMessage(
                    exchange: "", routingKey: "out", body: [UInt8(number / 4)], messageID: "same",
                    headers: ["number": .string("\(number % 4)")])
                harness.publish(message, publisher, as: "\(number)")
            }
            await harness.wait("outcomes") { harness.outcomes.count == 40 }
            let arrived = (harness.broker.queue("out")?.ready ?? []).map { stored in
                let number = stored.properties.header("number")?.stringValue.flatMap { Int($0) } ?? -1
                return Int(stored.body.first ?? 0) * 4 + number
            }
            #expect(Set(arrived) == Set(harness.outcomes.filter { $0.value == .confirmed }.compactMap { Int($0.key) }))
            #expect((1..<40).contains(arrived.count))
            await publisher.close()
        }
    }

    @Test func aRefusedMessageIsNacked() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.nackPercent = 100
            let publisher = harness.makePublisher()
            #expect(await publisher.publish(AMQPHarness.message("a")) == .nacked)
            harness.broker.behavior.nackPercent = 0
            #expect(await publisher.publish(AMQPHarness.message("a")) == .confirmed)
            await publisher.close()
        }
    }

    // A channel that was opened while a node died may refuse every message, but a new channel may work.
    @Test func aChannelThatRefusesEverythingIsReplaced() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.opensRefusingChannels = true
            let publisher = try await harness.readyPublisher()
            harness.broker.behavior.opensRefusingChannels = false
            var outcomes: [PublishOutcome] = []
            for _ in 0..<13 {
                outcomes.append(await publisher.publish(AMQPHarness.message("a")))
                await harness.pass(.seconds(1))
            }
            #expect(outcomes.prefix(10).allSatisfy { $0 == .nacked })
            #expect(outcomes.suffix(2) == [.confirmed, .confirmed])
            #expect(harness.loop.network.connections.count == 1)
            await publisher.close()
        }
    }

    @Test func occasionalRefusalsKeepTheChannel() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            var states: [BrokerStatus] = []
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            let handler: TestSessionHandler = harness.handler(of: publisher)
            handler.onStatus = { states.append($0) }
            for second in 0..<60 {
                harness.broker.behavior.nackPercent = second % 5 == 0 ? 0 : 100
                _ = await publisher.publish(AMQPHarness.message("a"))
                await harness.pass(.seconds(1))
            }
            #expect(states == [])
            await publisher.close()
        }
    }

    @Test func messagesThatCannotBeEncodedAreRefusedAlone() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher { $0.messageBytesMax = 1000 }
            let long = String(repeating: "x", count: 256)
            var message = AMQPHarness.message("a")
            message.messageID = long
            #expect(await publisher.publish(message) == .refused(.shortStringTooLong))
            #expect(await publisher.publish(AMQPHarness.message("a", key: long)) == .refused(.shortStringTooLong))
            #expect(await publisher.publish(AMQPHarness.message("a", exchange: long)) == .refused(.shortStringTooLong))
            message = AMQPHarness.message("a")
            message.headers = [long: 1]
            #expect(await publisher.publish(message) == .refused(.shortStringTooLong))
            message.headers = ["large": .string(String(repeating: "x", count: 131_072))]
            #expect(await publisher.publish(message) == .refused(.headersTooLarge))
            message.headers = ["nested": .table([long: 1])]
            #expect(await publisher.publish(message) == .refused(.shortStringTooLong))
            message = AMQPHarness.message("a")
            message.body = .init(repeating: 0, count: 1001)
            #expect(await publisher.publish(message) == .refused(.bodyTooLarge))
            message = AMQPHarness.message("b")
            message.messageID = String(repeating: "x", count: 255)
            #expect(await publisher.publish(message) == .confirmed)
            #expect(harness.loop.network.connections.count == 1)
            #expect(harness.texts(in: "out") == ["b"])
            await publisher.close()
        }
    }

    @Test func refusedMessagesDoNotReplaceHeartbeats() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let publisher = try await harness.readyPublisher()
            for _ in 0..<60 {
                let message = AMQPHarness.message("a", key: String(repeating: "x", count: 256))
                #expect(await publisher.publish(message) == .refused(.shortStringTooLong))
                await harness.pass(.seconds(5))
            }
            #expect(harness.broker.logins == 1, "the connection was lost without heartbeats")
            await publisher.close()
        }
    }

    @Test func headersThatJustFitOneFrameAreSent() {
        AMQPHarness.play { harness in
            harness.connection.frameBytesMax = 4096
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            var confirmed = 0
            for size in 3900...4100 {
                var message = AMQPHarness.message("\(size)")
                message.headers = ["h": .string(String(repeating: "x", count: size))]
                switch await publisher.publish(message) {
                case .confirmed: confirmed += 1
                case let outcome: #expect(outcome == .refused(.headersTooLarge))
                }
            }
            #expect(confirmed > 50 && confirmed < 200)
            #expect(harness.loop.network.connections.count == 1)
            await publisher.close()
        }
    }

    // Absent properties take no space. Without a body, the only other frame is the method frame of 19 bytes.
    @Test func headersMayFillAFrameCompletely() {
        var writer = FrameWriter(outputBytesMax: 1000)
        var message = OutgoingMessage(exchange: "x", routingKey: "k", body: [], messageID: "i", contentType: nil)
        message.priority = 1
        message.timestampSeconds = 1
        let sizes = (3900...4100).compactMap { size in
            message.headers = ["h": .string(String(repeating: "x", count: size))]
            return try? writer.publish(message, channel: 3)
        }
        #expect(sizes.max() == writer.frameBytesMax + 19)
    }

    @Test func publishesReplaceHeartbeats() {
        AMQPHarness.play { harness in
            harness.loop.network.wholePiecesPercent = 100
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = try await harness.readyPublisher()
            let heartbeats = AMQPHarness.EventLog()
            harness.loop.network.connections[0].onDelivery = { direction, bytes in
                if direction == .toServer, bytes == Frame.overheadBytes { heartbeats.count += 1 }
            }
            for _ in 0..<60 {
                #expect(await publisher.publish(AMQPHarness.message("a")) == .confirmed)
                await harness.pass(.seconds(5))
            }
            #expect(heartbeats.count == 0)
            await harness.pass(.seconds(60))
            #expect(heartbeats.count > 0)
            await publisher.close()
        }
    }

    @Test func messagesKeepTheirOrderWhileTheyWait() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 100...100
            let publisher = harness.makePublisher { $0.unconfirmedBytesMax = 1000 }
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            let sizes = ["first": 800, "large": 800, "small": 1] as KeyValuePairs
            for (id, size) in sizes {
                let body = [UInt8](repeating: 0, count: size)
                harness.publish(OutgoingMessage(exchange: "", routingKey: "out", body: body, messageID: id), publisher)
            }
            await harness.wait("outcomes") { harness.outcomes.count == 3 }
            #expect(harness.broker.queue("out")?.ready.map { $0.properties.messageID ?? "" } == sizes.map(\.key))
            await publisher.close()
        }
    }

    @Test func aConnectionLostBeforeTheConfirmIsAnUnknownOutcome() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 500...500
            let publisher = try await harness.readyPublisher()
            harness.publish(AMQPHarness.message("a"), publisher)
            await harness.pass(.milliseconds(100))
            #expect(publisher.unconfirmedCount == 1)
            #expect(harness.texts(in: "out") == ["a"])
            harness.loop.network.connections[0].cut()
            await harness.wait("outcome") { harness.outcomes.count == 1 }
            guard case .unknown(let error) = harness.outcomes["a"] else { return fail("\(harness.outcomes)") }
            #expect(error.code == .connectionLost)
            #expect(publisher.unconfirmedCount == 0)
            #expect(await publisher.publish(AMQPHarness.message("b")) == .confirmed)
            await publisher.close()
        }
    }

    @Test func withoutABrokerMessagesWaitAndKeepTheirOrder() {
        AMQPHarness.play { harness in
            let publisher = harness.makePublisher()
            for id in ["a", "b", "c"] { harness.publish(AMQPHarness.message(id), publisher) }
            await harness.pass(.seconds(2))
            #expect(publisher.waitingCount == 3)
            harness.broker.declareQueue("out")
            try harness.broker.start()
            await harness.wait("outcomes") { harness.outcomes.count == 3 }
            #expect(harness.texts(in: "out") == ["a", "b", "c"])
            await publisher.close()
        }
    }

    @Test func waitingHasALimitInTimeAndNumber() {
        AMQPHarness.play { harness in
            let publisher = harness.makePublisher {
                $0.publishTimeoutSeconds = 5
                $0.waitingMax = 2
            }
            let start = harness.loop.now.monotonic
            for id in ["a", "b", "c"] { harness.publish(AMQPHarness.message(id), publisher) }
            await harness.wait("the third") { harness.outcomes.count == 1 }
            guard case .notSent = harness.outcomes["c"] else { return fail("\(harness.outcomes)") }
            await harness.wait("the others") { harness.outcomes.count == 3 }
            #expect(start.duration(to: harness.loop.now.monotonic) >= .seconds(5))
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(6))
            guard case .notSent = harness.outcomes["a"] else { return fail("\(harness.outcomes)") }
            await publisher.close()
        }
    }

    @Test func theWindowLimitsMessagesInFlight() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 0...50
            let publisher = harness.makePublisher { $0.unconfirmedMax = 10 }
            for number in 0..<500 { harness.publish(AMQPHarness.message("\(number)"), publisher) }
            while harness.outcomes.count < 500 {
                #expect(publisher.unconfirmedCount <= 10)
                await harness.pass(.milliseconds(1))
            }
            #expect(harness.texts(in: "out") == (0..<500).map { "\($0)" })
            #expect(harness.outcomes.values.allSatisfy { $0 == .confirmed })
            await publisher.close()
        }
    }

    @Test func outputToABrokerThatReadsNothingIsBounded() {
        AMQPHarness.play { harness in
            harness.connection.outputBytesMax = 200_000
            try harness.broker.start()
            let publisher = harness.makePublisher()
            let failures = harness.recordFailures(of: publisher.connection)
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            harness.broker.setSilent(true)
            for number in 1...3 {
                let body = [UInt8](repeating: 0, count: 100_000)
                let message = OutgoingMessage(exchange: "", routingKey: "out", body: body, messageID: "\(number)")
                harness.publish(message, publisher)
            }
            await harness.wait("the end", limit: .seconds(1)) { harness.outcomes.count == 3 }
            #expect(failures.texts.first?.contains("the broker left ") == true)
            await publisher.close()
        }
    }

    @Test func publishesDuringTheCloseAreNotSent() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let publisher = try await harness.readyPublisher()
            harness.broker.setSilent(true)
            harness.closeWithoutWaiting(publisher)
            await harness.pass(.seconds(1))
            guard case .notSent(let error) = await publisher.publish(AMQPHarness.message("late")) else {
                return fail("the message was sent")
            }
            #expect(error.code == .closed)
        }
    }

    @Test func closingCompletesAllPublishes() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 100_000...100_000
            let publisher = harness.makePublisher { $0.unconfirmedMax = 1 }
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            harness.publish(AMQPHarness.message("sent"), publisher)
            harness.publish(AMQPHarness.message("waiting"), publisher)
            await harness.pass(.milliseconds(10))
            await publisher.close()
            await harness.wait("outcomes") { harness.outcomes.count == 2 }
            guard case .unknown = harness.outcomes["sent"], case .notSent = harness.outcomes["waiting"] else {
                return fail("\(harness.outcomes)")
            }
            let closedAt = harness.loop.now.monotonic
            guard case .notSent(let error) = await publisher.publish(AMQPHarness.message("late")) else {
                return fail("the message was sent")
            }
            #expect(error.code == .closed)
            #expect(harness.loop.now.monotonic == closedAt, "the outcome took time")
        }
    }
}
