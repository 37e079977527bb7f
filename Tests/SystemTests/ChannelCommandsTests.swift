import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Commands for broadcast channels over a real broker, and APNs' channel management over TLS.
    @Suite struct ChannelCommands {
        private static let app = "com.example.app"

        private static func stage(_ name: String) async throws -> Stage {
            let stage = try await Stage(
                name,
                Stage.Options(
                    simulator: ["--listen-production-channels", "127.0.0.1:0"], delays: ["1s"],
                    sections: ["channels: {reply_prefix: shop.}"]))
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            return stage
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
