import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Commands for broadcast channels over a real broker, and APNs' channel management over TLS.
    @Suite struct ChannelCommands {
        private static let app = "com.example.app"

        private static let options = Stage.Options(
            simulator: ["--listen-production-channels", "127.0.0.1:0"], delays: ["1s"],
            sections: ["channels: {reply_prefix: shop.}"])

        private static func stage(_ name: String, simulator: [String] = []) async throws -> Stage {
            var options = options
            options.simulator += simulator
            let stage = try await Stage(name, options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            return stage
        }

        private static let replyElsewhere =
            "the reply to a command for a broadcast channel could not be delivered"

        /// What has come out of the results by now, which is all that was published before.
        private func results(_ stage: Stage) async throws -> [IncomingMessage] {
            let mark = OutgoingMessage(
                exchange: stage.queue("results"), routingKey: "result.mark", body: [], messageID: "mark")
            _ = await stage.desk.publish(mark)
            var count = 1
            while true {
                let seen = try await stage.desk.collected(stage.queue("results"), atLeast: count)
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

        private func message(_ stage: Stage, _ number: Int, _ body: String, replyTo: String?) -> OutgoingMessage {
            var message = OutgoingMessage(
                exchange: "", routingKey: stage.queue("channels"), body: Array(body.utf8),
                messageID: Sample(number).id)
            message.correlationID = "ask \(number)"
            message.replyTo = replyTo
            return message
        }

        /// As a service in the field asks: pika, and RabbitMQ's direct reply-to.
        @Test func whoAsksIsAnsweredDirectly() async throws {
            let stage = try await Self.stage("commands")
            let worker = try await stage.worker()
            let folder = Products.file("Tests/SystemTests/ForeignClients/pika")
            let python = try await PythonEnvironment("pika", requirements: "\(folder)/requirements.txt")
            func ask(_ commands: String...) async throws -> [JSONValue] {
                try await python.run(
                    "\(folder)/ask.py", [PrivateBroker.shared.url, stage.queue("channels")] + commands
                ).map { try JSONDocument($0).root }
            }
            let made = try await ask(Self.create("newest"), Self.create("none"))
            #expect(made.map { $0["outcome"]?.string } == ["done", "done"])
            #expect(made.map { $0["storage_policy"]?.string } == ["newest", "none"])
            let ids = made.compactMap { $0["channel_id"]?.string }
            try #require(ids.count == 2)
            let seen = try await ask(Self.command("read", ids[0]), Self.command("list"), Self.command("delete", ids[1]))
            #expect(seen.map { $0["outcome"]?.string } == ["done", "done", "done"])
            #expect(seen[0]["storage_policy"]?.string == "newest" && seen[0]["environment"]?.string == "production")
            #expect(Set(seen[1]["channels"]?.elements.compactMap(\.string) ?? []) == Set(ids))
            let wrong = try await ask(
                Self.command("read", ids[1]), Self.command("read"), "{",
                Self.command("list").replacing("app", with: "ap"))
            #expect(wrong.map { $0["outcome"]?.string } == ["refused", "invalid", "invalid", "invalid"])
            #expect(wrong[0]["reason"]?.string == "ChannelNotRegistered")
            #expect(wrong.dropFirst().map { $0["error"]?["class"]?.string } == ["schema", "json", "schema"])
            let lack = #"The value lacks the property "channel_id", because /command is "read"."#
            #expect(wrong[1]["message"]?.string == lack)
            let other = try await ask(#"{"app":"com.example.ap","command":"list"}"#)
            #expect(other[0]["message"]?.string?.contains("did you mean com.example.app?") == true)
            _ = try await worker.stop()
            #expect(try await results(stage).map(\.routingKey) == [], "told once")
            #expect(try worker.count(of: Self.replyElsewhere) == 0)
            try await stage.end()
        }

        @Test func aDirectRequesterThatHasGoneLeavesItsReplyToTheResults() async throws {
            let stage = try await Self.stage("left")
            let folder = Products.file("Tests/SystemTests/ForeignClients/pika")
            let python = try await PythonEnvironment("pika", requirements: "\(folder)/requirements.txt")
            _ = try await python.run(
                "\(folder)/leave.py",
                [PrivateBroker.shared.url, stage.queue("channels"), Self.create("none")])
            let worker = try await stage.startWorker()
            let reply = try await stage.desk.collected(stage.queue("results"), atLeast: 1)[0]
            #expect(reply.properties.correlationID == "left" && reply.routingKey == "result.channel.\(Self.app)")
            #expect(try reply.json.root["outcome"]?.string == "done" && reply.json.root["channel_id"] != nil)
            let line = try await worker.said(Self.replyElsewhere).root
            #expect(line["error"]?.string == "direct reply-to: who asked has gone")
            _ = try await worker.stop()
            try await stage.end()
        }

        /// One requester's queue is full for good.
        @Test func aFullQueueOfRepliesStopsNobody() async throws {
            let stage = try await Self.stage("reply-full")
            try await stage.desk.declare("shop.full", ["x-max-length": 1, "x-overflow": "reject-publish"])
            try await stage.desk.declare("shop.next", [:])
            await stage.desk.collect("shop.next")
            let filler = OutgoingMessage(exchange: "", routingKey: "shop.full", body: [], messageID: "filler")
            #expect(await stage.desk.publish(filler) == .confirmed)
            let worker = try await stage.worker()
            _ = await stage.desk.publish(message(stage, 1, Self.create("none"), replyTo: "shop.full"))
            _ = await stage.desk.publish(message(stage, 2, Self.command("list"), replyTo: "shop.next"))
            let next = try await stage.desk.collected("shop.next", atLeast: 1)[0]
            #expect(try next.json.root["channels"]?.elements.compactMap(\.string).count == 1)
            let told = try await stage.desk.collected(stage.queue("results"), atLeast: 1)
            #expect(told.map(\.properties.correlationID) == ["ask 1"])
            #expect(try told[0].json.root["outcome"]?.string == "done")
            let line = try await worker.said(Self.replyElsewhere).root
            #expect(line["error"]?.string?.hasPrefix("queue shop.full: a queue is full") == true)
            _ = try await worker.stop()
            try await stage.end()
        }

        /// The broker closes the channel of whoever may not publish, and the reply with it.
        @Test func withoutPermissionToReplyTheResultsAndTheDoctorSaySo() async throws {
            let name = "reply-denied"
            let stage = try await Self.stage(name)
            let broker = try await PrivateBroker.shared
            var options = Self.options
            options.url = try await broker.addUser(name, password: "word")
            func permit(write: String) async throws {
                try await broker.rabbitmqctl(
                    "set_permissions", name, "^$", write, #"^\#(name)\.(requests|quarantine|expired|channels)$"#)
            }
            let write = #"^\#(name)\.(results|dead|quarantine|wait\..*)$"#
            try await permit(write: write)
            try stage.write(options)
            func permissions() async throws -> [String] {
                try await ChildProcess.run([
                    Products.executable("martlet"), "doctor", "--config", stage.configuration,
                ]).output.filter { $0.contains("permissions") }
            }
            let ill = try await permissions()
            #expect(
                ill.contains { $0.hasPrefix("failure  permissions") && $0.contains("may not publish to amq.default") },
                "\(ill)")
            try await stage.desk.declare("shop.denied", [:])
            let worker = try await stage.worker()
            _ = await stage.desk.publish(message(stage, 1, Self.create("none"), replyTo: "shop.denied"))
            let line = try await worker.said(Self.replyElsewhere).root
            #expect(line["error"]?.string?.contains("'amq.default'") == true)
            let told = try await stage.desk.collected(stage.queue("results"), atLeast: 1)
            #expect(try told[0].json.root["outcome"]?.string == "done" && told[0].properties.correlationID == "ask 1")
            try await permit(write: write + #"|^amq\.default$"#)
            let well = try await permissions()
            #expect(well.contains { $0.hasPrefix("ok       permissions") }, "\(well)")
            _ = try await worker.stop()
            try await stage.end()
        }

        /// It would come back as another, or be too long to come back at all.
        @Test func propertiesThatAreNoTextAreRefusedBeforeAnythingIsDone() async throws {
            let stage = try await Self.stage("no-text")
            try await stage.desk.declare("shop.text", [:])
            await stage.desk.collect("shop.text")
            let worker = try await stage.worker()
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
                        exchange: "", routingKey: Array(stage.queue("channels").utf8), properties: $0.bytes,
                        body: Array(Self.create("none").utf8))
                }, to: PrivateBroker.shared.url)
            let replies = try await stage.desk.collected("shop.text", atLeast: 2)
            #expect(replies.map(\.properties.messageID) == ["one", "-"])
            #expect(replies.map(\.properties.correlationID) == [nil, "two"])
            let told = try await stage.desk.collected(stage.queue("results"), atLeast: 1)
            let errors = try (replies + told).map { try $0.json.root["error"]?["code"]?.string }
            #expect(errors == ["correlation-id", "message-id", "reply-to"])
            _ = await stage.desk.publish(message(stage, 4, Self.command("list"), replyTo: "shop.text"))
            let list = try await stage.desk.collected("shop.text", atLeast: 3)[2].json.root
            #expect(list["channels"]?.elements.compactMap(\.string) == [], "none was made")
            _ = try await worker.stop()
            try await stage.end()
        }

        /// Pushes go on meanwhile.
        @Test func aQueueOfCommandsThatIsGoneIsSaidAndWaitedFor() async throws {
            let stage = try await Self.stage("commands-lost")
            try await stage.desk.declare("shop.lost", [:])
            await stage.desk.collect("shop.lost")
            let worker = try await stage.worker()
            try await stage.desk.delete([stage.queue("channels")])
            let line = try await worker.said("a queue is not consumed").root
            #expect(line["amqp.queue"]?.string == stage.queue("channels"))
            let samples = Sample.make(1)
            try await stage.publish(samples)
            try await stage.told(of: samples).expectAcceptedAtOnce(samples)
            try await stage.applyTopology()
            try await worker.said("a queue is consumed again")
            _ = await stage.desk.publish(message(stage, 1, Self.command("list"), replyTo: "shop.lost"))
            #expect(try await stage.desk.collected("shop.lost", atLeast: 1)[0].json.root["outcome"]?.string == "done")
            _ = try await worker.stop()
            #expect(try worker.count(of: "not ready") == 0)
            try await stage.end()
        }

        @Test func repliesGoToNoQueueButThoseThatAreAllowed() async throws {
            let stage = try await Self.stage("replies")
            try await stage.desk.bind("shop.replies", to: stage.queue("results"), "never")
            await stage.desk.collect("shop.replies")
            let worker = try await stage.worker()
            let forbidden = [stage.queue("dead"), stage.queue("requests"), "other.replies", "amq.gen-1", nil]
            for (number, queue) in forbidden.enumerated() {
                _ = await stage.desk.publish(message(stage, number, Self.create("none"), replyTo: queue))
            }
            _ = await stage.desk.publish(message(stage, 10, Self.create("newest"), replyTo: "shop.nobody"))
            _ = await stage.desk.publish(message(stage, 11, Self.command("list"), replyTo: "shop.replies"))
            let reply = try await stage.desk.collected("shop.replies", atLeast: 1)[0]
            #expect(reply.properties.correlationID == "ask 11" && reply.properties.type == "push.channel-reply.v1")
            #expect(try reply.json.root["channels"]?.elements.compactMap(\.string).count == 1, "of number 10 alone")

            let told = try await stage.desk.collected(stage.queue("results"), atLeast: forbidden.count + 1)
            #expect(told.allSatisfy { $0.routingKey == "result.channel.\(Self.app)" })
            let outcomes = try told.map { try $0.json.root["outcome"]?.string }
            #expect(outcomes == forbidden.map { _ in "invalid" } + ["done"])
            #expect(try told[0].json.root["error"]?["code"]?.string == "reply-to")
            #expect(told.last?.properties.correlationID == "ask 10")
            _ = try await worker.stop()
            try await stage.end()
        }

        /// Who took it first may have made a channel before it went away.
        @Test func aCreateThatComesAgainMakesNoSecondChannel() async throws {
            let stage = try await Self.stage("again")
            try await stage.desk.bind("shop.again", to: stage.queue("results"), "never")
            await stage.desk.collect("shop.again")
            _ = await stage.desk.publish(message(stage, 1, Self.create("none"), replyTo: "shop.again"))
            await stage.desk.touch(stage.queue("channels"))
            let worker = try await stage.worker()
            let reply = try await stage.desk.collected("shop.again", atLeast: 1)[0].json.root
            #expect(reply["outcome"]?.string == "unknown")
            #expect(reply["channels"]?.elements.compactMap(\.string) == [])
            _ = try await worker.stop()
            try await stage.end()
        }

        /// The broker delivers it again while it is still carried out.
        @Test func aCommandWhoseConnectionIsLostMeanwhileIsRepliedToOnce() async throws {
            let stage = try await Self.stage("lost", simulator: ["--delay-ms", "3000"])
            // Whose connections are closed, and no other test's.
            let broker = try await PrivateBroker.shared
            var options = Self.options
            options.url = try await broker.addUser("lost", password: "word")
            try await broker.rabbitmqctl("set_permissions", "lost", ".*", ".*", ".*")
            try stage.write(options)
            try await stage.desk.bind("shop.lost", to: stage.queue("results"), "never")
            await stage.desk.collect("shop.lost")
            let worker = try await stage.worker()
            _ = await stage.desk.publish(message(stage, 1, Self.create("none"), replyTo: "shop.lost"))
            try await stage.untilAsked(1)
            try await broker.rabbitmqctl("close_all_user_connections", "lost", "the test says so")
            try await worker.said("ready")
            _ = await stage.desk.publish(message(stage, 2, Self.command("list"), replyTo: "shop.lost"))
            let replies = try await stage.desk.collected("shop.lost", atLeast: 2).map { try $0.json.root }
            #expect(replies.map { $0["command"]?.string } == ["create", "list"])
            #expect(replies[0]["outcome"]?.string == "done")
            let made = try #require(replies[0]["channel_id"]?.string)
            #expect(replies[1]["channels"]?.elements.compactMap(\.string) == [made])
            _ = try await worker.stop()
            try await stage.end()
        }

        @Test func theCommandsGoOnWithAnotherConfiguration() async throws {
            let stage = try await Self.stage("commands-change")
            try await stage.desk.bind("shop.change", to: stage.queue("results"), "never")
            await stage.desk.collect("shop.change")
            let worker = try await stage.worker()
            for number in 1...3 {
                _ = await stage.desk.publish(message(stage, number, Self.command("list"), replyTo: "shop.change"))
                let text = try stage.directory.read("martlet.yaml")
                try stage.replace("martlet.yaml", text + "# \(number)\n")
                worker.send(signal: SIGHUP)
                try await worker.said("the configuration was read anew and is in force")
            }
            let replies = try await stage.desk.collected("shop.change", atLeast: 3)
            #expect(try replies.map { try $0.json.root["outcome"]?.string } == ["done", "done", "done"])
            _ = try await worker.stop()
            try await stage.end()
        }
    }
}
