import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Channel commands through a real broker, with APNs' channel management over TLS.
    @Suite struct ChannelCommands {
        private static let app = "com.example.app"

        private static let options = SystemFixture.Options(
            simulator: ["--listen-production-channels", "127.0.0.1:0"], delays: ["1s"],
            sections: ["channels: {reply_prefix: shop.}"])

        private static func fixture(_ name: String, simulator: [String] = []) async throws -> SystemFixture {
            var options = options
            options.simulator += simulator
            let fixture = try await SystemFixture(name, options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            return fixture
        }

        private static let replyElsewhere =
            "channel command reply not delivered"

        /// Returns every message that was published to the results queue before this call.
        private func results(_ fixture: SystemFixture) async throws -> [IncomingMessage] {
            let mark = OutgoingMessage(
                exchange: fixture.queue("results"), routingKey: "result.mark", body: [], messageID: "mark")
            _ = await fixture.testClient.publish(mark)
            var count = 1
            while true {
                let seen = try await fixture.testClient.collected(fixture.queue("results"), atLeast: count)
                if seen.last?.properties.messageID == "mark" { return seen.dropLast() }
                count = seen.count + 1
            }
        }

        private static func create(_ policy: String) -> String {
            #"{"app":"\#(app)","command":"create","storage_policy":"\#(policy)"}"#
        }

        private static func command(_ word: String, _ channel: String? = nil) -> String {
            #"{"app":"\#(app)","command":"\#(word)"\#(channel.map { #","channel_id":"\#($0)""# } ?? "")}"#
        }

        private func message(_ fixture: SystemFixture, _ number: Int, _ body: String, replyTo: String?)
            -> OutgoingMessage
        {
            var message = OutgoingMessage(
                exchange: "", routingKey: fixture.queue("channels"), body: Array(body.utf8),
                messageID: Sample(number).id)
            message.correlationID = "ask \(number)"
            message.replyTo = replyTo
            return message
        }

        /// Sends commands with pika and RabbitMQ's direct reply-to.
        @Test func repliesUseDirectReplyTo() async throws {
            let fixture = try await Self.fixture("commands")
            let worker = try await fixture.worker()
            let folder = Products.file("Tests/SystemTests/ForeignClients/pika")
            let python = try await PythonEnvironment("pika", requirements: "\(folder)/requirements.txt")
            func request(_ commands: String...) async throws -> [JSONValue] {
                try await python.run(
                    "\(folder)/ask.py", [PrivateBroker.shared.url, fixture.queue("channels")] + commands
                ).map { try JSONDocument($0).root }
            }
            let made = try await request(Self.create("newest"), Self.create("none"))
            #expect(made.map { $0["outcome"]?.string } == ["done", "done"])
            #expect(made.map { $0["storage_policy"]?.string } == ["newest", "none"])
            let ids = made.compactMap { $0["channel_id"]?.string }
            try #require(ids.count == 2)
            let seen = try await request(
                Self.command("read", ids[0]), Self.command("list"), Self.command("delete", ids[1]))
            #expect(seen.map { $0["outcome"]?.string } == ["done", "done", "done"])
            #expect(seen[0]["storage_policy"]?.string == "newest" && seen[0]["environment"]?.string == "production")
            #expect(Set(seen[1]["channels"]?.elements.compactMap(\.string) ?? []) == Set(ids))
            let wrong = try await request(
                Self.command("read", ids[1]), Self.command("read"), "{",
                Self.command("list").replacing("app", with: "ap"))
            #expect(wrong.map { $0["outcome"]?.string } == ["refused", "invalid", "invalid", "invalid"])
            #expect(wrong[0]["reason"]?.string == "ChannelNotRegistered")
            #expect(wrong.dropFirst().map { $0["error"]?["class"]?.string } == ["schema", "json", "schema"])
            let lack = #"The value lacks the property "channel_id", because /command is "read"."#
            #expect(wrong[1]["message"]?.string == lack)
            let other = try await request(#"{"app":"com.example.ap","command":"list"}"#)
            #expect(other[0]["message"]?.string?.contains("did you mean com.example.app?") == true)
            _ = try await worker.stop()
            #expect(try await results(fixture).map(\.routingKey) == [], "a reply was also published as a result")
            #expect(try worker.count(of: Self.replyElsewhere) == 0)
            try await fixture.end()
        }

        @Test func aReplyToADisconnectedRequesterIsPublishedAsAResult() async throws {
            let fixture = try await Self.fixture("left")
            let folder = Products.file("Tests/SystemTests/ForeignClients/pika")
            let python = try await PythonEnvironment("pika", requirements: "\(folder)/requirements.txt")
            _ = try await python.run(
                "\(folder)/leave.py",
                [PrivateBroker.shared.url, fixture.queue("channels"), Self.create("none")])
            let worker = try await fixture.startWorker()
            let reply = try await fixture.testClient.collected(fixture.queue("results"), atLeast: 1)[0]
            #expect(reply.properties.correlationID == "left" && reply.routingKey == "result.channel.\(Self.app)")
            #expect(try reply.json.root["outcome"]?.string == "done" && reply.json.root["channel_id"] != nil)
            let line = try await worker.waitForLog(Self.replyElsewhere).root
            #expect(line["error"]?.string == "direct reply-to: receiver not found")
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// Sends a command with a reply queue that stays full, and a command with another reply queue.
        @Test func aFullReplyQueueDelaysNoOtherCommand() async throws {
            let fixture = try await Self.fixture("reply-full")
            try await fixture.testClient.declare("shop.full", ["x-max-length": 1, "x-overflow": "reject-publish"])
            try await fixture.testClient.declare("shop.next", [:])
            await fixture.testClient.collect("shop.next")
            let filler = OutgoingMessage(exchange: "", routingKey: "shop.full", body: [], messageID: "filler")
            #expect(await fixture.testClient.publish(filler) == .confirmed)
            let worker = try await fixture.worker()
            _ = await fixture.testClient.publish(message(fixture, 1, Self.create("none"), replyTo: "shop.full"))
            _ = await fixture.testClient.publish(message(fixture, 2, Self.command("list"), replyTo: "shop.next"))
            let next = try await fixture.testClient.collected("shop.next", atLeast: 1)[0]
            #expect(try next.json.root["channels"]?.elements.compactMap(\.string).count == 1)
            let reported = try await fixture.testClient.collected(fixture.queue("results"), atLeast: 1)
            #expect(reported.map(\.properties.correlationID) == ["ask 1"])
            #expect(try reported[0].json.root["outcome"]?.string == "done")
            let line = try await worker.waitForLog(Self.replyElsewhere).root
            #expect(line["error"]?.string?.hasPrefix("queue shop.full: a queue is full") == true)
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// The worker's user may not publish to the default exchange. The broker closes the channel, and the worker
        /// publishes the reply to the result exchange.
        @Test func aMissingReplyPermissionIsReportedByResultsAndDoctor() async throws {
            let name = "reply-denied"
            let fixture = try await Self.fixture(name)
            let broker = try await PrivateBroker.shared
            var options = Self.options
            options.url = try await broker.addUser(name, password: "word")
            func permit(write: String) async throws {
                try await broker.rabbitmqctl(
                    "set_permissions", name, "^$", write, #"^\#(name)\.(requests|quarantine|expired|channels)$"#)
            }
            let write = #"^\#(name)\.(results|dead|quarantine|wait\..*)$"#
            try await permit(write: write)
            try fixture.write(options)
            func permissions() async throws -> [String] {
                try await ChildProcess.run([
                    Products.executable("martlet"), "doctor", "--config", fixture.configuration,
                ]).output.filter { $0.contains("permissions") }
            }
            let ill = try await permissions()
            #expect(
                ill.contains { $0.hasPrefix("failure  permissions") && $0.contains("may not publish to amq.default") },
                "\(ill)")
            try await fixture.testClient.declare("shop.denied", [:])
            let worker = try await fixture.worker()
            _ = await fixture.testClient.publish(message(fixture, 1, Self.create("none"), replyTo: "shop.denied"))
            let line = try await worker.waitForLog(Self.replyElsewhere).root
            #expect(line["error"]?.string?.contains("'amq.default'") == true)
            let reported = try await fixture.testClient.collected(fixture.queue("results"), atLeast: 1)[0]
            #expect(try reported.json.root["outcome"]?.string == "done" && reported.properties.correlationID == "ask 1")
            try await permit(write: write + #"|^amq\.default$"#)
            let well = try await permissions()
            #expect(well.contains { $0.hasPrefix("ok       permissions") }, "\(well)")
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// Sends commands whose properties are not UTF-8.
        ///
        /// Decoding would change a property. The reply could then carry a wrong value or a value that is too long.
        @Test func propertiesThatAreNotUTF8AreRefusedBeforeTheCommandRuns() async throws {
            let fixture = try await Self.fixture("no-text")
            try await fixture.testClient.declare("shop.text", [:])
            await fixture.testClient.collect("shop.text")
            let worker = try await fixture.worker()
            let bad = [UInt8](repeating: 0xFF, count: 200)
            let shop = Array("shop.text".utf8)
            let cases: [RawProperties] = [
                .init(correlationID: bad, replyTo: shop, messageID: Array("one".utf8)),
                .init(correlationID: Array("two".utf8), replyTo: shop, messageID: bad),
                .init(correlationID: Array("three".utf8), replyTo: shop + [0xFF], messageID: Array("three".utf8)),
            ]
            try await RawPublisher.publish(
                cases.map {
                    RawPublisher.Message(
                        exchange: "", routingKey: Array(fixture.queue("channels").utf8), properties: $0.bytes,
                        body: Array(Self.create("none").utf8))
                }, to: PrivateBroker.shared.url)
            let replies = try await fixture.testClient.collected("shop.text", atLeast: 2)
            #expect(replies.map(\.properties.messageID) == ["one", "-"])
            #expect(replies.map(\.properties.correlationID) == [nil, "two"])
            let reported = try await fixture.testClient.collected(fixture.queue("results"), atLeast: 1)
            let errors = try (replies + reported).map { try $0.json.root["error"]?["code"]?.string }
            #expect(errors == ["correlation-id", "message-id", "reply-to"])
            _ = await fixture.testClient.publish(message(fixture, 4, Self.command("list"), replyTo: "shop.text"))
            let list = try await fixture.testClient.collected("shop.text", atLeast: 3)[2].json.root
            #expect(list["channels"]?.elements.compactMap(\.string) == [], "a channel was created")
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// Deletes the command queue. Pushes continue, and the worker consumes from the queue again once it exists.
        @Test func aMissingCommandQueueIsLoggedAndConsumedAgain() async throws {
            let fixture = try await Self.fixture("commands-lost")
            try await fixture.testClient.declare("shop.lost", [:])
            await fixture.testClient.collect("shop.lost")
            let worker = try await fixture.worker()
            try await fixture.testClient.delete([fixture.queue("channels")])
            let line = try await worker.waitForLog("queue not consumed").root
            #expect(line["amqp.queue"]?.string == fixture.queue("channels"))
            let samples = Sample.make(1)
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            try await fixture.applyTopology()
            try await worker.waitForLog("queue consumed again")
            _ = await fixture.testClient.publish(message(fixture, 1, Self.command("list"), replyTo: "shop.lost"))
            #expect(
                try await fixture.testClient.collected("shop.lost", atLeast: 1)[0].json.root["outcome"]?.string
                    == "done")
            _ = try await worker.stop()
            #expect(try worker.count(of: "not ready") == 0)
            try await fixture.end()
        }

        @Test func repliesGoOnlyToAllowedQueues() async throws {
            let fixture = try await Self.fixture("replies")
            try await fixture.testClient.bind("shop.replies", to: fixture.queue("results"), "never")
            await fixture.testClient.collect("shop.replies")
            let worker = try await fixture.worker()
            let forbidden = [fixture.queue("dead"), fixture.queue("requests"), "other.replies", "amq.gen-1", nil]
            for (number, queue) in forbidden.enumerated() {
                _ = await fixture.testClient.publish(message(fixture, number, Self.create("none"), replyTo: queue))
            }
            _ = await fixture.testClient.publish(message(fixture, 10, Self.create("newest"), replyTo: "shop.missing"))
            _ = await fixture.testClient.publish(message(fixture, 11, Self.command("list"), replyTo: "shop.replies"))
            let reply = try await fixture.testClient.collected("shop.replies", atLeast: 1)[0]
            #expect(reply.properties.correlationID == "ask 11" && reply.properties.type == "push.channel-reply.v1")
            #expect(
                try reply.json.root["channels"]?.elements.compactMap(\.string).count == 1,
                "a forbidden command created a channel, or command 10 created none")

            let reported = try await fixture.testClient.collected(
                fixture.queue("results"), atLeast: forbidden.count + 1)
            #expect(reported.allSatisfy { $0.routingKey == "result.channel.\(Self.app)" })
            let outcomes = try reported.map { try $0.json.root["outcome"]?.string }
            #expect(outcomes == forbidden.map { _ in "invalid" } + ["done"])
            #expect(try reported[0].json.root["error"]?["code"]?.string == "reply-to")
            #expect(reported.last?.properties.correlationID == "ask 10")
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// Redelivers a command whose first consumer may have created a channel before the consumer's
        /// connection closed.
        @Test func aRedeliveredCreateMakesNoSecondChannel() async throws {
            let fixture = try await Self.fixture("again")
            try await fixture.testClient.bind("shop.again", to: fixture.queue("results"), "never")
            await fixture.testClient.collect("shop.again")
            _ = await fixture.testClient.publish(message(fixture, 1, Self.create("none"), replyTo: "shop.again"))
            await fixture.testClient.requeueOne(in: fixture.queue("channels"))
            let worker = try await fixture.worker()
            let reply = try await fixture.testClient.collected("shop.again", atLeast: 1)[0].json.root
            #expect(reply["outcome"]?.string == "unknown")
            #expect(reply["channels"]?.elements.compactMap(\.string) == [])
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// Closes the worker's connections, so that the broker redelivers a command that the worker still executes.
        @Test func aCommandWhoseConnectionIsLostIsRepliedToOnce() async throws {
            let fixture = try await Self.fixture("lost", simulator: ["--delay-ms", "3000"])
            // The worker has its own broker user, so that the test closes no other connections.
            let broker = try await PrivateBroker.shared
            var options = Self.options
            options.url = try await broker.addUser("lost", password: "word")
            try await broker.rabbitmqctl("set_permissions", "lost", ".*", ".*", ".*")
            try fixture.write(options)
            try await fixture.testClient.bind("shop.lost", to: fixture.queue("results"), "never")
            await fixture.testClient.collect("shop.lost")
            let worker = try await fixture.worker()
            _ = await fixture.testClient.publish(message(fixture, 1, Self.create("none"), replyTo: "shop.lost"))
            try await fixture.waitForUnansweredRequests(1)
            try await broker.rabbitmqctl("close_all_user_connections", "lost", "closed by the test")
            try await worker.waitForLog("ready")
            _ = await fixture.testClient.publish(message(fixture, 2, Self.command("list"), replyTo: "shop.lost"))
            let replies = try await fixture.testClient.collected("shop.lost", atLeast: 2).map { try $0.json.root }
            #expect(replies.map { $0["command"]?.string } == ["create", "list"])
            #expect(replies[0]["outcome"]?.string == "done")
            let made = try #require(replies[0]["channel_id"]?.string)
            #expect(replies[1]["channels"]?.elements.compactMap(\.string) == [made])
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func commandsContinueAfterAReload() async throws {
            let fixture = try await Self.fixture("commands-change")
            try await fixture.testClient.bind("shop.change", to: fixture.queue("results"), "never")
            await fixture.testClient.collect("shop.change")
            let worker = try await fixture.worker()
            for number in 1...3 {
                _ = await fixture.testClient.publish(
                    message(fixture, number, Self.command("list"), replyTo: "shop.change"))
                let text = try fixture.directory.read("martlet.yaml")
                try fixture.replace("martlet.yaml", text + "# \(number)\n")
                worker.send(signal: SIGHUP)
                try await worker.waitForLog("configuration reloaded")
            }
            let replies = try await fixture.testClient.collected("shop.change", atLeast: 3)
            #expect(try replies.map { try $0.json.root["outcome"]?.string } == ["done", "done", "done"])
            _ = try await worker.stop()
            try await fixture.end()
        }
    }
}
