import AMQP
import BrokerTopology
import EventLoop
import JSON
import Registrations
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Registration commands over AMQP, with the scripted broker and a store in memory, on virtual time.
@Suite struct RegistrationConsumerTests {
    private static let replyQueue = RegistrationHarness.replyQueue

    @Test func `Commands are stored in one batch and replied to`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 10), replyTo: Self.replyQueue)
        harness.send(2, harness.register(1, user: "bob"), replyTo: Self.replyQueue)
        harness.send(3, harness.register(2, user: "ann"))
        #expect(harness.run { harness.isDrained && harness.replies.count == 2 })
        #expect(harness.liveRows == 2 && harness.writer.batchSizes == [3])
        #expect(try harness.outcomes() == ["stored", "moved"])
        #expect(harness.replies.map(\.properties.correlationID) == ["command 1", "command 2"])
        #expect(harness.replies.map(\.properties.messageID) == [1, 2].map(LaneAPNSHarness.id))
        #expect(harness.replies.map(\.properties.type) == Array(repeating: RegistrationReply.type, count: 2))
        let name = "martlet_registration_commands_total"
        #expect(harness.metrics.count(of: name) == 3)
        #expect(harness.metrics.count(of: name, with: ("outcome", "moved")) == 1)
        #expect(harness.metrics.count(of: name, with: ("source", "client")) == 3)
        #expect(harness.metrics.reading(of: "martlet_registration_batch_seconds")?.count == 1)
    }

    @Test func `Events are published, and then deleted and acknowledged`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 10))
        harness.send(2, harness.register(1, user: "bob"))
        // The broker confirms further messages only after 5 seconds.
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 5000...5000 }
        #expect(harness.run { harness.results.count == 1 })
        #expect(harness.store.events.count == 1)
        // The command without an event is acknowledged before the confirm.
        #expect(harness.run { harness.queue.unsettled == 1 })
        #expect(harness.run { harness.isDrained })
        #expect(harness.store.events.isEmpty)
        let event = try #require(harness.results.first)
        #expect(event.exchange == harness.names.resultsExchange)
        #expect(event.routingKey == "result.registration.\(RegistrationHarness.app)")
        #expect(event.properties.type == RegistrationEvent.type)
        #expect(event.properties.header(MessageHeaderName.possibleDuplicate) == nil)
        let body = try JSONDocument(event.body).root
        #expect(body["event"]?.string == "moved" && body["new_user"]?.string == "bob")
        #expect(harness.metrics.count(of: "martlet_registration_events_total", with: ("event", "moved")) == 1)
    }

    @Test func `A redelivered command changes nothing`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(2) }
        harness.send(1, harness.register(1, user: "ann"), replyTo: Self.replyQueue)
        #expect(harness.run { !harness.writer.batchSizes.isEmpty })
        harness.cut()
        #expect(harness.run { harness.isDrained && harness.isReady && harness.writer.batchSizes.count == 2 })
        #expect(harness.run { harness.replies.count == 1 })
        #expect(try harness.outcomes() == ["unchanged"])
        #expect(harness.liveRows == 1)
    }

    @Test func `One poisonous command among 1000 becomes one dead letter`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .milliseconds(20) }
        for number in 0..<1000 {
            let user = number == 617 ? RegistrationHarness.poisonousUser : "user-\(number)"
            harness.send(number, harness.register(number, user: user), replyTo: number == 617 ? Self.replyQueue : nil)
        }
        #expect(harness.run { harness.isDrained })
        #expect(harness.liveRows == 999)
        #expect(harness.deadLetters.count == 1)
        let dead = try #require(harness.deadLetters.first)
        #expect(dead.properties.header(MessageHeaderName.reasonClass)?.stringValue == "limit")
        #expect(dead.properties.header(MessageHeaderName.reasonCode)?.stringValue == "22")
        #expect(dead.routingKey == "dead.limit.22.\(RegistrationHarness.app)")
        #expect(try harness.outcomes() == ["invalid"])
        #expect(harness.status.reasons.isEmpty)
        let name = "martlet_registration_store_errors_total"
        #expect(harness.metrics.count(of: name) == harness.metrics.count(of: name, with: ("class", "22")))
    }

    @Test(
        arguments: [
            ("{", nil, "json", "truncated"), (#"{"command":"register"}"#, nil, "schema", "required"),
            (#"{"command":"erase","user":"u","registered_at":1}"#, nil, "schema", "minimum"),
            ("{}", "gzip", "property", "content-encoding"),
        ] as [(String, String?, String, String)])
    func `An invalid command becomes a dead letter and is replied to`(
        body: String, contentEncoding: String?, failureClass: String, code: String
    ) throws {
        let harness = try RegistrationHarness()
        harness.send(7, body, replyTo: Self.replyQueue, contentEncoding: contentEncoding)
        #expect(harness.run { harness.isDrained && harness.replies.count == 1 })
        let dead = try #require(harness.deadLetters.first)
        #expect(dead.body == Array(body.utf8))
        let properties = dead.properties
        #expect(properties.header(MessageHeaderName.outcome)?.stringValue == "invalid")
        #expect(properties.header(MessageHeaderName.reasonClass)?.stringValue == failureClass)
        #expect(properties.header(MessageHeaderName.reasonCode)?.stringValue == code)
        #expect(properties.header(MessageHeaderName.originQueue)?.stringValue == harness.names.registrationsQueue)
        #expect(properties.header(MessageHeaderName.worker)?.stringValue == "tested")
        #expect(properties.messageID == LaneAPNSHarness.id(7) && properties.userID == "guest")
        let reply = try JSONDocument(try #require(harness.replies.first).body).root
        #expect(reply["outcome"]?.string == "invalid" && reply["error"]?["code"]?.string == code)
        #expect(harness.writer.batchSizes.isEmpty)
    }

    @Test func `A command of an app that is not configured is invalid`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", app: "com.example.other"))
        #expect(harness.run { harness.isDrained && harness.deadLetters.count == 1 })
        #expect(harness.deadLetters.first?.routingKey == "dead.app.unknown.com.example.other")
    }

    @Test func `The broker dead-letters an oversized command`() throws {
        let harness = try RegistrationHarness()
        let body = harness.register(1, user: String(repeating: "u", count: ReceivedCommand.bytesMax))
        harness.send(1, body, replyTo: Self.replyQueue)
        #expect(harness.run { harness.isDrained && harness.replies.count == 1 })
        let dead = try #require(harness.deadLetters.first)
        #expect(dead.body.count == body.utf8.count)
        #expect(dead.properties.header(MessageHeaderName.reasonClass) == nil)
        #expect(BrokerDeath(try #require(dead.properties.headers))?.queue == harness.names.registrationsQueue)
    }

    @Test(arguments: ["push.requests", "elsewhere"]) func `A command with a forbidden reply-to is invalid`(
        replyTo: String
    ) throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann"), replyTo: replyTo)
        #expect(harness.run { harness.isDrained && harness.deadLetters.count == 1 })
        #expect(harness.deadLetters.first?.routingKey == "dead.property.reply-to.\(RegistrationHarness.app)")
        #expect(harness.liveRows == 0 && harness.replies.isEmpty)
    }

    @Test func `A reply without a receiver goes to the results exchange`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann"), replyTo: "shop.gone")
        #expect(harness.run { harness.isDrained && harness.results.count == 1 })
        let reply = try #require(harness.results.first)
        #expect(reply.properties.type == RegistrationReply.type)
        #expect(reply.routingKey == "result.registration.\(RegistrationHarness.app)")
    }

    @Test func `A user above the limit loses the oldest registration`() throws {
        let harness = try RegistrationHarness(devicesPerUserMax: 2)
        for number in 0..<3 { harness.send(number, harness.register(number, user: "ann", age: 10 - Int64(number))) }
        #expect(harness.run { harness.isDrained && harness.results.count == 1 })
        #expect(try harness.events() == ["evicted"] && harness.liveRows == 2)
    }

    @Test(arguments: [(true, true, "worker"), (false, true, "client"), (true, false, "client")])
    func `Refusals count as a worker's only with header and verified user`(
        hasHeader: Bool, hasUser: Bool, source: String
    ) throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 5000))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        var message = OutgoingMessage(
            exchange: harness.names.registrationsExchange, routingKey: "-",
            body: Array(
                (#"{"command":"prune","app":"\#(RegistrationHarness.app)","status":410,"reason":"Unregistered","#
                    + #""device_token":"\#(RegistrationHarness.token(1))","timestamp":\#(harness.now)}"#).utf8),
            messageID: LaneAPNSHarness.id(2))
        if hasHeader { message.headers.append(MessageHeaderName.worker, .string("another")) }
        message.carriesUserID = hasUser
        harness.publish(message)
        #expect(harness.run { harness.isDrained && harness.results.count == 1 })
        #expect(try harness.events() == ["pruned"] && harness.liveRows == 0)
        let name = "martlet_registration_commands_total"
        #expect(harness.metrics.counts(of: name).contains { $0.labels.description.contains(source) })
        #expect(harness.metrics.count(of: name, with: ("source", "worker")) == (source == "worker" ? 1 : 0))
    }

    @Test func `The age of the oldest command is measured from its timestamp`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(5) }
        harness.send(
            1, harness.register(1, user: "ann"), timestampSeconds: UInt64(harness.loop.now.unixSeconds - 100))
        harness.pass(seconds: 3)
        #expect((100...104).contains(harness.metrics.level(of: "martlet_registration_command_age_seconds")))
        #expect(harness.run { harness.isDrained })
        harness.pass(seconds: 2)
        #expect(harness.metrics.level(of: "martlet_registration_command_age_seconds") == 0)
    }
}
