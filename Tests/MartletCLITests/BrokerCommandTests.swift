import AMQP
import BrokerManagement
import BrokerTopology
import Delivery
import EventLoop
import Glibc
import TestKit
import Testing

@testable import Configuration

/// The commands that use a broker, run as processes against a real broker. Each test that changes the broker uses its
/// own prefix.
@Suite(.timeLimit(.minutes(10))) struct BrokerCommandTests {
    @Test func aSecondApplyCreatesNothing() async throws {
        let broker = try await PrivateBroker.shared
        let prefix = "applied"
        let before = try await martlet("publish", "--url", broker.url, "--prefix", prefix, file("valid/alert.json"))
        #expect(before.exit.status == .exited(1))
        #expect(before.errors.joined().contains("run: martlet topology apply"))

        let first = try await martlet("topology", "apply", "--url", broker.url, "--prefix", prefix)
        #expect(first.exit.status == .exited(0))
        #expect(first.output.first == "created  exchange applied.unrouted")
        #expect(first.output.contains("created  queue applied.wait.30s.1"))
        #expect(first.output.contains("bound    applied.dead to applied.dlx.rest"))
        #expect(!first.output.contains { $0.hasPrefix("unbound") }, "a new queue was unbound")
        let sorted = "bound    applied.expired to applied.dlx.sort by x-first-death-reason=expired x-match=all-with-x"
        #expect(first.output.contains(sorted))

        let second = try await martlet("topology", "apply", "--url", broker.url, "--prefix", prefix)
        #expect(second.exit.status == .exited(0))
        #expect(second.output.count == first.output.count + 1)
        #expect(second.output.contains("unbound  applied.dead from applied.dlx"))
        #expect(!second.output.contains { $0.hasPrefix("created") })
    }

    @Test func mismatchedObjectsAreReportedAndOthersApplied() async throws {
        let broker = try await PrivateBroker.shared
        try await BrokerClients.withAdmin(broker.url) { admin in
            _ = try await admin.declareQueue("other.wait.30s.1", arguments: ["x-queue-type": "quorum"])
        }
        let result = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "other")
        #expect(result.exit.status == .exited(1))
        #expect(result.errors.count == 1)
        #expect(result.errors[0].hasPrefix("martlet: failed   queue other.wait.30s.1: PRECONDITION_FAILED"))
        #expect(result.errors[0].contains("inequivalent arg"))
        #expect(result.output.contains("bound    other.unrouted to other.unrouted"))
    }

    /// A queue keeps a message after more returns than RabbitMQ 4 allows by default. One queue is new. The other is
    /// from an earlier version of Martlet, and needs a policy on RabbitMQ 4.
    @Test func returnsNeverRemoveAMessageFromAQueue() async throws {
        let broker = try await PrivateBroker.shared
        let isLimiting = try await BrokerClients.withAdmin(broker.url) { admin in
            // A queue as an earlier version of Martlet declared it.
            try await admin.declareQueue("kept.dead", arguments: ["x-queue-type": "quorum"])
            return BrokerVersion(admin.serverProperties)?.limitsDeliveries == true
        }
        func apply(_ options: String...) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
            try await ChildProcess.run(
                [Products.executable("martlet"), "topology", "apply", "--url", broker.url, "--prefix", "kept"] + options
            )
        }
        let applied = try await apply()
        let policy = applied.errors.first { $0.contains("policy kept-deliveries") }
        if isLimiting {
            #expect(applied.exit.status == .exited(1))
            #expect(
                policy?.contains(
                    "removes messages from kept.dead after \(DeliveryLimit.standard) requeues. Run: rabbitmqctl set_policy"
                ) == true, "\(applied.errors)")
            try await broker.rabbitmqctl(
                "set_policy", "--apply-to", "queues", "kept-deliveries", #"^kept\.dead$"#, #"{"delivery-limit":-1}"#)
        } else {
            #expect(applied.exit.status == .exited(0) && policy == nil)
        }
        // A second apply accepts both kinds of queue.
        let again = try await apply("--without-policies")
        #expect(again.exit.status == .exited(0), "\(again.errors)")
        #expect(
            again.output.contains("present  queue kept.dead") && again.output.contains("present  queue kept.requests"))
        let checked = try await martlet("topology", "check", "--url", broker.url, "--prefix", "kept")
        #expect(checked.exit.status == .exited(0), "\(checked.output)")

        for queue in ["kept.dead", "kept.requests"] {
            let message = OutgoingMessage(exchange: "", routingKey: queue, body: [1], messageID: queue)
            #expect(try await BrokerClients.publish([message], to: broker.url) == [.confirmed])
            for _ in 0..<25 { try await BrokerClients.consume(1, from: queue, at: broker.url, requeues: true) }
            let taken = try await BrokerClients.consume(1, from: queue, at: broker.url)
            #expect(taken.first?.properties.header("x-delivery-count") == 25, "\(queue)")
        }
    }

    @Test func queuesOfAnEarlierVersionAreKeptAndReported() async throws {
        let broker = try await PrivateBroker.shared
        try await BrokerClients.withAdmin(broker.url) { admin in
            try await admin.declareExchange("older.retry", .direct)
            try await admin.declareQueue("older.retry.30s", arguments: ["x-queue-type": "quorum"])
        }
        let result = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "older")
        #expect(result.exit.status == .exited(0))
        #expect(
            result.output.filter { $0.hasPrefix("unused") } == [
                "unused   exchange older.retry and its queues: replaced by older.wait.*; "
                    + "once the queues are empty, delete the queues and the exchange"
            ])
        let left = try await BrokerClients.withAdmin(broker.url) { try await $0.status(ofQueue: "older.retry.30s") }
        #expect(left.messages == 0)
    }

    @Test func aRequestReachesOneOfSeveralQueuesAndNotTheFormerOne() async throws {
        let broker = try await PrivateBroker.shared
        let directory = try TemporaryDirectory()
        try directory.write(
            "martlet.yaml",
            """
            amqp:
              url: \(broker.url)
              prefix: split
              request_queues: [{name: split.requests.urgent}, {name: split.requests.bulk, routing_key: campaign}]
            retry: {delays: [1h]}
            apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
            apps: {com.example.shop: {}}
            """)
        let config = directory.file("martlet.yaml")
        _ = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "split")
        let applied = try await martlet("topology", "apply", "--config", config)
        #expect(applied.exit.status == .exited(0), "\(applied.errors)")
        #expect(applied.output.contains("unbound  split.requests from split.requests by #"))
        #expect(applied.output.contains("bound    split.requests.bulk to split.requests by campaign"))

        let undecided = try await martlet("publish", "--config", config, file("valid/alert.json"))
        #expect(undecided.exit.status == .exited(2))
        #expect(
            undecided.errors == [
                "martlet: several request queues are configured; run: "
                    + ["urgent", "bulk"].map { name in
                        "martlet publish --config \(config) --queue split.requests.\(name) \(file("valid/alert.json"))"
                    }.joined(separator: ", or: ")
            ])
        let decided = try await martlet(
            "publish", "--config", config, "--queue", "split.requests.bulk", file("valid/alert.json"))
        #expect(decided.exit.status == .exited(0), "\(decided.errors)")
        let outcomes = try await BrokerClients.publish(
            ["urgent", "campaign", "other"].map { key in
                OutgoingMessage(exchange: "split.requests", routingKey: key, body: [], messageID: key)
            }, to: broker.url)
        #expect(outcomes == [.confirmed, .confirmed, .returned(code: 312, text: "NO_ROUTE")])
        let counts = try await BrokerClients.withAdmin(broker.url) { admin in
            var counts: [Int] = []
            for queue in ["split.requests.urgent", "split.requests.bulk", "split.requests"] {
                counts.append(try await admin.status(ofQueue: queue).messages)
            }
            return counts
        }
        #expect(counts == [1, 2, 0])
    }

    /// The permissions that a worker's user needs. The check neither publishes nor consumes.
    @Test func permissionsAreCheckedWithoutUsingThem() async throws {
        let broker = try await PrivateBroker.shared
        _ = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "asked")
        try await broker.rabbitmqctl("add_user", "asker", "word")
        try await broker.rabbitmqctl("set_permissions", "asker", "^$", #"^asked\.results$"#, #"^asked\.requests$"#)
        _ = try await BrokerClients.publish(
            [OutgoingMessage(exchange: "asked.requests", routingKey: "a", body: [1], messageID: "one")], to: broker.url)
        let url = broker.url.replacing("guest:guest", with: "asker:word")
        let answers = try await BrokerClients.withAdmin(url) { admin in
            var answers: [Bool] = []
            for exchange in ["asked.results", "asked.dead", "asked.requests", ""] {
                answers.append(try await admin.mayPublish(toExchange: exchange))
            }
            for queue in ["asked.requests", "asked.quarantine"] {
                answers.append(try await admin.mayConsume(fromQueue: queue))
            }
            return answers
        }
        #expect(answers == [true, false, false, false, true, false])
        let all = try await BrokerClients.withAdmin(broker.url) { admin in
            let may = [
                try await admin.mayPublish(toExchange: "asked.requests"), try await admin.mayPublish(toExchange: ""),
                try await admin.mayConsume(fromQueue: "asked.requests"),
            ]
            let message = try await admin.get(from: "asked.requests")
            let dead = try await admin.status(ofQueue: "asked.dead").messages
            return (may, message?.isRedelivered, dead)
        }
        #expect(all.0 == [true, true, true])
        #expect(all.1 == false, "the check has delivered the message")
        #expect(all.2 == 0)
        await #expect(throws: AMQPError.self) {
            try await BrokerClients.withAdmin(broker.url) { try await $0.mayConsume(fromQueue: "asked.nowhere") }
        }
    }

    @Test func aFormerQueueThatIsNamedIsUnbound() async throws {
        let broker = try await PrivateBroker.shared
        _ = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "former")
        try await BrokerClients.withAdmin(broker.url) { admin in
            try await admin.declareQueue("former.bulk", arguments: ["x-queue-type": "quorum"])
            try await admin.bindQueue("former.bulk", toExchange: "former.requests", routingKey: "bulk")
        }
        let result = try await martlet(
            "topology", "apply", "--url", broker.url, "--prefix", "former", "--former", "former.bulk", "--former",
            "former.requests=#")
        #expect(result.output.contains("unbound  former.bulk from former.requests by bulk"))
        #expect(
            result.errors == [
                "martlet: failed   former.requests from former.requests by #: this configuration needs the binding; "
                    + "omit this --former option"
            ])
        #expect(result.exit.status == .exited(1))
        let outcomes = try await BrokerClients.publish(
            [OutgoingMessage(exchange: "former.requests", routingKey: "bulk", body: [], messageID: "one")],
            to: broker.url)
        #expect(outcomes == [.confirmed])
        let left = try await BrokerClients.withAdmin(broker.url) {
            try await $0.status(ofQueue: "former.bulk").messages
        }
        #expect(left == 0)
    }

    @Test func filesArePublishedByteForByte() async throws {
        let broker = try await PrivateBroker.shared
        _ = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "sent")
        let path = file("valid/alert.json")
        let result = try await martlet("publish", "--url", broker.url, "--prefix", "sent", path, "/nowhere.json")
        #expect(result.exit.status == .exited(1))
        #expect(result.output.count == 1)
        #expect(result.errors == ["martlet: cannot read /nowhere.json: no such file"])
        let message = try await BrokerClients.withAdmin(broker.url) { try await $0.get(from: "sent.requests") }
        let published = try #require(message)
        let body = try FileReader.bytes(of: path, bytesMax: 1 << 20)
        #expect(published.body == body)
        #expect(result.output[0].hasPrefix("published  \(published.properties.messageID ?? "?")  "))
        #expect(published.properties.deliveryMode == 2)
    }

    @Test func watchShowsMessagesPublishedAfterItListens() async throws {
        let broker = try await PrivateBroker.shared
        _ = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "seen")
        let watch = try await ChildProcess([
            Products.executable("martlet"), "watch", "--url", broker.url, "--prefix", "seen", "--json", "--count", "3",
            "--timeout", "60",
        ])
        _ = try await watch.errors.line { $0.contains("listening") }
        let outcomes = try await BrokerClients.publish(
            [
                OutgoingMessage(
                    exchange: "seen.results", routingKey: "result.accepted.com.example.shop",
                    body: Array(#"{"id":"one","app":"com.example.shop","outcome":"accepted","status":200}"#.utf8),
                    messageID: "one"),
                OutgoingMessage(
                    exchange: "seen.dead", routingKey: "dead.json.syntax.-", body: [0, 1], messageID: "two",
                    headers: ["push-reason-class": "json", "push-reason-code": "syntax"]),
                OutgoingMessage(exchange: "seen.dlx.rest", routingKey: "", body: [], messageID: "three"),
            ], to: broker.url)
        #expect(outcomes == [.confirmed, .confirmed, .confirmed])
        let exit = try await watch.exit()
        #expect(exit.status == .exited(0))
        let shown = await watch.output.allLines()
        let beginnings = [
            #"{"kind":"result","id":"one","app":"com.example.shop","outcome":"accepted","status":200,"#
                + #""exchange":"seen.results","routing_key":"result.accepted.com.example.shop","#,
            #"{"kind":"dead_letter","id":"two","class":"json","code":"syntax","body_bytes":2,"exchange":"seen.dead","#,
            #"{"kind":"dead_letter","id":"three","body_bytes":0,"exchange":"seen.dlx.rest","routing_key":"","#,
        ]
        #expect(shown.count == 3 && zip(shown, beginnings).allSatisfy { $0.hasPrefix($1) }, "\(shown)")
        #expect(
            shown.first?.hasSuffix(#""body":{"id":"one","app":"com.example.shop","outcome":"accepted","status":200}}"#)
                == true)
        #expect(
            shown.dropFirst().first?.contains(#""headers":{"push-reason-class":"json","push-reason-code":"syntax"}"#)
                == true)
        // The command consumed no message of other consumers, and left no queue.
        let left = try await BrokerClients.withAdmin(broker.url) { admin in
            [try await admin.status(ofQueue: "seen.results"), try await admin.status(ofQueue: "seen.dead")]
        }
        #expect(left.map(\.messages) == [1, 2])
        let queues = try await broker.rabbitmqctl("list_queues", "-q", "name")
        #expect(!queues.contains { $0.hasPrefix("seen.watch") })
    }

    @Test func watchShowsMatchingMessages() async throws {
        let broker = try await PrivateBroker.shared
        _ = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "some")
        let watch = try await ChildProcess([
            Products.executable("martlet"), "watch", "--url", broker.url, "--prefix", "some", "--dead", "--app",
            "*.shop",
            "--outcome", "rejected", "--count", "1", "--timeout", "60",
        ])
        _ = try await watch.errors.line { $0.contains("listening") }
        let body = Array(#"{"app":"com.example.shop","outcome":"rejected"}"#.utf8)
        func dead(_ id: String, _ outcome: String, body: [UInt8]) -> OutgoingMessage {
            OutgoingMessage(
                exchange: "some.dead", routingKey: "dead.apns.x.-", body: body, messageID: id,
                headers: [
                    "push-outcome": .string(outcome), "push-reason-class": "apns", "push-reason-code": "BadTopic",
                ])
        }
        _ = try await BrokerClients.publish(
            [
                OutgoingMessage(
                    exchange: "some.results", routingKey: "result.rejected.x", body: body, messageID: "one"),
                dead("two", "invalid", body: body), dead("three", "rejected", body: []),
                dead("four", "rejected", body: body),
            ], to: broker.url)
        #expect(try await watch.exit().status == .exited(0))
        let lines = await watch.output.allLines()
        #expect(lines.count == 2 && lines[1].contains("  four  ") && lines[1].contains("  apns.BadTopic  "), "\(lines)")
    }

    @Test func watchEndsAfterItsTimeout() async throws {
        let broker = try await PrivateBroker.shared
        _ = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "timed")
        let counted = try await martlet(
            "watch", "--url", broker.url, "--prefix", "timed", "--timeout", "1", "--count", "1")
        #expect(counted.exit.status == .exited(4))
        #expect(counted.output.first?.hasPrefix("KIND    ID ") == true)
        let uncounted = try await martlet("watch", "--url", broker.url, "--prefix", "timed", "--timeout", "1")
        #expect(uncounted.exit.status == .exited(0))
    }

    // Without a worker, no result is published.
    @Test func publishWithWaitReportsCausesOfMissingResults() async throws {
        let broker = try await PrivateBroker.shared
        _ = try await martlet("topology", "apply", "--url", broker.url, "--prefix", "idle")
        let result = try await martlet(
            "publish", "--url", broker.url, "--prefix", "idle", "--wait", "--timeout", "8", file("valid/alert.json"))
        #expect(result.exit.status == .exited(4))
        let cause =
            "martlet: no result yet: no worker consumes from idle.requests (1 waiting); to start a worker, run: "
            + "martlet worker --config FILE"
        #expect(result.errors.filter { $0.contains("no result yet") } == [cause], "\(result.errors)")
    }

    @Test func anUnreachableOrRefusingBrokerIsReported() async throws {
        let broker = try await PrivateBroker.shared
        let url = "amqp://127.0.0.1:\(try FreePort.choose())"
        let absent = try await martlet("publish", "--url", url, "--timeout", "1", file("valid/alert.json"))
        #expect(absent.exit.status == .exited(3))
        #expect(absent.errors.joined().contains("Connection refused"))
        let refused = try await martlet(
            "publish", "--url", broker.url.replacing("guest:guest", with: "guest:hunter2"), file("valid/alert.json"))
        #expect(refused.exit.status == .exited(3))
        #expect(refused.errors.joined().contains("ACCESS_REFUSED"))
        #expect(!refused.errors.joined().contains("hunter2"))
        for command in ["apply", "check"] {
            let refused = try await martlet(
                "topology", command, "--url", broker.url.replacing("guest:guest", with: "guest:hunter2"))
            #expect(refused.exit.status == .exited(3))
            #expect(refused.errors.count == 1 && refused.errors[0].contains("ACCESS_REFUSED"))
        }
    }

    @Test(arguments: [["topology", "apply"], ["topology", "check"], ["watch"], ["publish", "--timeout", "60"]])
    func aWaitForTheBrokerIsReportedAfterASecond(_ command: [String]) async throws {
        let place = "127.0.0.1:\(try FreePort.choose())"
        let files = command[0] == "publish" ? [file("valid/alert.json")] : []
        let child = try await ChildProcess(
            [Products.executable("martlet")] + command + ["--url", "amqp://\(place)"] + files)
        let line = try await child.errors.line { _ in true }
        #expect(line.hasPrefix("martlet: waiting for the broker since "), "\(line)")
        #expect(line.hasSuffix("cannot connect to \(place): Connection refused"), "\(line)")
        _ = try await child.terminate()
        // Further lines are possible if the test itself is late.
        #expect(await child.errors.allLines().allSatisfy { $0.hasPrefix("martlet: waiting for the broker since ") })
    }

    @Test(arguments: [["dead", "stats"], ["waits", "list"], ["waits", "bring-back", "--all"]])
    func aSignalEndsTheWaitForTheBroker(_ command: [String]) async throws {
        let url = "amqp://127.0.0.1:\(try FreePort.choose())"
        let child = try await ChildProcess([Products.executable("martlet")] + command + ["--url", url])
        _ = try await child.errors.line { $0.hasPrefix("martlet: waiting for the broker since ") }
        child.send(signal: SIGINT)
        // A wait that continued would end with exit status 3.
        #expect(try await child.exit().status == .exited(130))
    }

    @Test func anUnreadableFileIsReportedBeforeConnecting() async throws {
        let url = "amqp://127.0.0.1:\(try FreePort.choose())"
        let result = try await martlet("publish", "--url", url, "--timeout", "1", "/nowhere.json")
        #expect(result.exit.status == .exited(1))
        #expect(result.errors == ["martlet: cannot read /nowhere.json: no such file"])
    }

    private func martlet(
        _ arguments: String...
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.runAtBroker([Products.executable("martlet")] + arguments)
    }

    private func file(_ name: String) -> String { Products.file("schemas/examples/\(name)") }
}
