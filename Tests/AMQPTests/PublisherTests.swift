import EventLoop
import TestKit
import Testing

@testable import AMQP

@Suite struct PublisherTests {
    @Test func aConfirmedMessageIsInTheQueueAsItWasGiven() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareExchange("results", .topic)
            scene.broker.declareQueue("out")
            scene.broker.bindQueue("out", toExchange: "results", routingKey: "result.#")
            let publisher = scene.makePublisher()
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
            let stored = try #require(scene.broker.queue("out")?.ready.first)
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

    @Test func whatIsNotGivenIsNotWritten() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            #expect(await publisher.publish(Scene.message("a")) == .confirmed)
            let properties = try #require(scene.broker.queue("out")?.ready.first).properties
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
    func bodiesOfAnySizeArriveWhole(size: Int) {
        Scene.play { scene in
            scene.connection.frameBytesMax = 4096
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            var random = SeededRandom(seed: UInt64(size))
            let body = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let message = OutgoingMessage(exchange: "", routingKey: "out", body: body, messageID: "")
            #expect(await publisher.publish(message) == .confirmed)
            #expect(scene.broker.queue("out")?.ready.first?.body == body)
            await publisher.close()
        }
    }

    /// What AMQP 0-9-1 reserves is zero; RabbitMQ takes no other weight in the second frame.
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

    @Test func whatNobodyTakesIsReturned() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            for id in ["lost", "found"] {
                scene.publish(Scene.message(id, key: id == "found" ? "out" : "nowhere"), publisher)
            }
            await scene.wait("outcomes") { scene.outcomes.count == 2 }
            #expect(scene.outcomes == ["lost": .returned(code: 312, text: "NO_ROUTE"), "found": .confirmed])
            await publisher.close()
        }
    }

    /// Nothing but what they hold tells them apart, and a return has no number.
    @Test(arguments: 1...5) func whatIsReturnedIsToldToItsOwnAmongMessagesOfOneID(seed: UInt64) {
        Scene.play(seed: seed) { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.returnPercent = 50
            scene.broker.behaviour.confirmDelayMilliseconds = 0...20
            let publisher = scene.makePublisher()
            for number in 0..<40 {
                let message = OutgoingMessage(
                    exchange: "", routingKey: "out", body: [UInt8(number / 4)], messageID: "same",
                    headers: ["number": .string("\(number % 4)")])
                scene.publish(message, publisher, as: "\(number)")
            }
            await scene.wait("outcomes") { scene.outcomes.count == 40 }
            let arrived = (scene.broker.queue("out")?.ready ?? []).map { stored in
                let number = stored.properties.header("number")?.stringValue.flatMap { Int($0) } ?? -1
                return Int(stored.body.first ?? 0) * 4 + number
            }
            #expect(Set(arrived) == Set(scene.outcomes.filter { $0.value == .confirmed }.compactMap { Int($0.key) }))
            #expect((1..<40).contains(arrived.count))
            await publisher.close()
        }
    }

    @Test func aRefusedMessageIsNacked() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.nackPercent = 100
            let publisher = scene.makePublisher()
            #expect(await publisher.publish(Scene.message("a")) == .nacked)
            scene.broker.behaviour.nackPercent = 0
            #expect(await publisher.publish(Scene.message("a")) == .confirmed)
            await publisher.close()
        }
    }

    /// A new channel may have what one lacks that was opened while a node of the broker died.
    @Test func aChannelThatRefusesEverythingForLongIsOpenedAnew() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.opensRefusingChannels = true
            let publisher = try await scene.readyPublisher()
            scene.broker.behaviour.opensRefusingChannels = false
            var outcomes: [PublishOutcome] = []
            for _ in 0..<13 {
                outcomes.append(await publisher.publish(Scene.message("a")))
                await scene.pass(.seconds(1))
            }
            #expect(outcomes.prefix(10).allSatisfy { $0 == .nacked })
            #expect(outcomes.suffix(2) == [.confirmed, .confirmed])
            #expect(scene.loop.network.connections.count == 1)
            await publisher.close()
        }
    }

    @Test func aQueueThatRefusesNowAndThenHasItsChannelLeftAlone() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            var states: [BrokerStatus] = []
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            let handler: TestSessionHandler = scene.handler(of: publisher)
            handler.onStatus = { states.append($0) }
            for second in 0..<60 {
                scene.broker.behaviour.nackPercent = second % 5 == 0 ? 0 : 100
                _ = await publisher.publish(Scene.message("a"))
                await scene.pass(.seconds(1))
            }
            #expect(states == [])
            await publisher.close()
        }
    }

    @Test func whatCannotBeEncodedIsRefusedAndHarmsNoOther() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher { $0.messageBytesMax = 1000 }
            let long = String(repeating: "x", count: 256)
            var message = Scene.message("a")
            message.messageID = long
            #expect(await publisher.publish(message) == .refused(.shortStringTooLong))
            #expect(await publisher.publish(Scene.message("a", key: long)) == .refused(.shortStringTooLong))
            #expect(await publisher.publish(Scene.message("a", exchange: long)) == .refused(.shortStringTooLong))
            message = Scene.message("a")
            message.headers = [long: 1]
            #expect(await publisher.publish(message) == .refused(.shortStringTooLong))
            message.headers = ["large": .string(String(repeating: "x", count: 131_072))]
            #expect(await publisher.publish(message) == .refused(.headersTooLarge))
            message.headers = ["nested": .table([long: 1])]
            #expect(await publisher.publish(message) == .refused(.shortStringTooLong))
            message = Scene.message("a")
            message.body = .init(repeating: 0, count: 1001)
            #expect(await publisher.publish(message) == .refused(.bodyTooLarge))
            message = Scene.message("b")
            message.messageID = String(repeating: "x", count: 255)
            #expect(await publisher.publish(message) == .confirmed)
            #expect(scene.loop.network.connections.count == 1)
            #expect(scene.texts(in: "out") == ["b"])
            await publisher.close()
        }
    }

    @Test func whatIsRefusedIsNoSignOfLifeToTheBroker() {
        Scene.play { scene in
            try scene.broker.start()
            let publisher = try await scene.readyPublisher()
            for _ in 0..<60 {
                let message = Scene.message("a", key: String(repeating: "x", count: 256))
                #expect(await publisher.publish(message) == .refused(.shortStringTooLong))
                await scene.pass(.seconds(5))
            }
            #expect(scene.broker.logins == 1, "heartbeats were sent all the same")
            await publisher.close()
        }
    }

    @Test func headersThatJustFitOneFrameAreSent() {
        Scene.play { scene in
            scene.connection.frameBytesMax = 4096
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            var confirmed = 0
            for size in 3900...4100 {
                var message = Scene.message("\(size)")
                message.headers = ["h": .string(String(repeating: "x", count: size))]
                switch await publisher.publish(message) {
                case .confirmed: confirmed += 1
                case let outcome: #expect(outcome == .refused(.headersTooLarge))
                }
            }
            #expect(confirmed > 50 && confirmed < 200)
            #expect(scene.loop.network.connections.count == 1)
            await publisher.close()
        }
    }

    /// What is absent takes no room. The other frame of a message without a body has 19 bytes.
    @Test func headersMayFillAFrameToItsLastByte() {
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

    @Test func whoPublishesSendsNoHeartbeats() {
        Scene.play { scene in
            scene.loop.network.wholePiecesPercent = 100
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = try await scene.readyPublisher()
            let heartbeats = Scene.Notes()
            scene.loop.network.connections[0].onDelivery = { direction, bytes in
                if direction == .toServer, bytes == Frame.overheadBytes { heartbeats.count += 1 }
            }
            for _ in 0..<60 {
                #expect(await publisher.publish(Scene.message("a")) == .confirmed)
                await scene.pass(.seconds(5))
            }
            #expect(heartbeats.count == 0)
            await scene.pass(.seconds(60))
            #expect(heartbeats.count > 0)
            await publisher.close()
        }
    }

    @Test func whatWaitsForRoomIsNotOvertaken() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 100...100
            let publisher = scene.makePublisher { $0.unconfirmedBytesMax = 1000 }
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            let sizes = ["first": 800, "large": 800, "small": 1] as KeyValuePairs
            for (id, size) in sizes {
                let body = [UInt8](repeating: 0, count: size)
                scene.publish(OutgoingMessage(exchange: "", routingKey: "out", body: body, messageID: id), publisher)
            }
            await scene.wait("outcomes") { scene.outcomes.count == 3 }
            #expect(scene.broker.queue("out")?.ready.map { $0.properties.messageID ?? "" } == sizes.map(\.key))
            await publisher.close()
        }
    }

    @Test func aConnectionLostBeforeTheConfirmLeavesItUnknown() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 500...500
            let publisher = try await scene.readyPublisher()
            scene.publish(Scene.message("a"), publisher)
            await scene.pass(.milliseconds(100))
            #expect(publisher.unconfirmedCount == 1)
            #expect(scene.texts(in: "out") == ["a"])
            scene.loop.network.connections[0].cut()
            await scene.wait("outcome") { scene.outcomes.count == 1 }
            guard case .unknown(let error) = scene.outcomes["a"] else { return fail("\(scene.outcomes)") }
            #expect(error.code == .connectionLost)
            #expect(publisher.unconfirmedCount == 0)
            #expect(await publisher.publish(Scene.message("b")) == .confirmed)
            await publisher.close()
        }
    }

    @Test func withoutABrokerMessagesWaitAndThenLeaveInOrder() {
        Scene.play { scene in
            let publisher = scene.makePublisher()
            for id in ["a", "b", "c"] { scene.publish(Scene.message(id), publisher) }
            await scene.pass(.seconds(2))
            #expect(publisher.waitingCount == 3)
            scene.broker.declareQueue("out")
            try scene.broker.start()
            await scene.wait("outcomes") { scene.outcomes.count == 3 }
            #expect(scene.texts(in: "out") == ["a", "b", "c"])
            await publisher.close()
        }
    }

    @Test func waitingHasALimitInTimeAndNumber() {
        Scene.play { scene in
            let publisher = scene.makePublisher {
                $0.publishTimeoutSeconds = 5
                $0.waitingMax = 2
            }
            let start = scene.loop.now.monotonic
            for id in ["a", "b", "c"] { scene.publish(Scene.message(id), publisher) }
            await scene.wait("the third") { scene.outcomes.count == 1 }
            guard case .notSent = scene.outcomes["c"] else { return fail("\(scene.outcomes)") }
            await scene.wait("the others") { scene.outcomes.count == 3 }
            #expect(start.duration(to: scene.loop.now.monotonic) >= .seconds(5))
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(6))
            guard case .notSent = scene.outcomes["a"] else { return fail("\(scene.outcomes)") }
            await publisher.close()
        }
    }

    @Test func theWindowHoldsWhateverIsPublished() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 0...50
            let publisher = scene.makePublisher { $0.unconfirmedMax = 10 }
            for number in 0..<500 { scene.publish(Scene.message("\(number)"), publisher) }
            while scene.outcomes.count < 500 {
                #expect(publisher.unconfirmedCount <= 10)
                await scene.pass(.milliseconds(1))
            }
            #expect(scene.texts(in: "out") == (0..<500).map { "\($0)" })
            #expect(scene.outcomes.values.allSatisfy { $0 == .confirmed })
            await publisher.close()
        }
    }

    @Test func aBrokerThatTakesNothingIsNotKeptBytesForWithoutEnd() {
        Scene.play { scene in
            scene.connection.outputBytesMax = 200_000
            try scene.broker.start()
            let publisher = scene.makePublisher()
            let failures = scene.noteFailures(of: publisher.connection)
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            scene.broker.setSilent(true)
            for number in 1...3 {
                let body = [UInt8](repeating: 0, count: 100_000)
                let message = OutgoingMessage(exchange: "", routingKey: "out", body: body, messageID: "\(number)")
                scene.publish(message, publisher)
            }
            await scene.wait("the end", limit: .seconds(1)) { scene.outcomes.count == 3 }
            #expect(failures.texts.first?.contains("the broker left ") == true)
            await publisher.close()
        }
    }

    @Test func whatComesDuringTheCloseIsNotSent() {
        Scene.play { scene in
            try scene.broker.start()
            let publisher = try await scene.readyPublisher()
            scene.broker.setSilent(true)
            scene.closeWithoutWaiting(publisher)
            await scene.pass(.seconds(1))
            guard case .notSent(let error) = await publisher.publish(Scene.message("late")) else {
                return fail("sent")
            }
            #expect(error.code == .closed)
        }
    }

    @Test func closeTellsEverybody() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 100_000...100_000
            let publisher = scene.makePublisher { $0.unconfirmedMax = 1 }
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            scene.publish(Scene.message("sent"), publisher)
            scene.publish(Scene.message("waiting"), publisher)
            await scene.pass(.milliseconds(10))
            await publisher.close()
            await scene.wait("outcomes") { scene.outcomes.count == 2 }
            guard case .unknown = scene.outcomes["sent"], case .notSent = scene.outcomes["waiting"] else {
                return fail("\(scene.outcomes)")
            }
            let closedAt = scene.loop.now.monotonic
            guard case .notSent(let error) = await publisher.publish(Scene.message("late")) else {
                return fail("sent")
            }
            #expect(error.code == .closed)
            #expect(scene.loop.now.monotonic == closedAt, "at once")
        }
    }
}
