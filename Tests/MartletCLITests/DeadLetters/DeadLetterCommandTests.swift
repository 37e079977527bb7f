import AMQP
import Delivery
import Glibc
import JSON
import TestKit
import Testing

@testable import DeadLetters

/// The dead-letter commands, run as processes against a real broker. Unless a test sets another limit, the queue has
/// the default delivery limit of RabbitMQ 4.
@Suite(.timeLimit(.minutes(10))) struct DeadLetterCommandTests {
    @Test func scanningKeepsAllMessagesInOrder() async throws {
        let dead = try await DeadLetterQueue("looked")
        let letters = (0..<LongForm.pick(20_000, short: 500)).map { number in
            dead.letter(number, code: number % 5 == 0 ? "BadTopic" : "BadDeviceToken")
        }
        try await dead.publish(letters)

        let stats = try await dead.run("stats")
        #expect(stats.exit.status == .exited(0), "\(stats.errors)")
        #expect(stats.errors == [])
        #expect(stats.output.count == 4)
        #expect(stats.output[0].hasPrefix("COUNT  SHARE  CLASS  CODE            APP              OLDEST"))
        #expect(
            stats.output[1].split(separator: " ").prefix(6).map { String($0) } == [
                "\(letters.count * 4 / 5)", "80", "%", "apns", "BadDeviceToken", "com.example.app",
            ])
        #expect(stats.output[3] == "\(letters.count) dead letters in looked.dead")
        let grouped = try await dead.run("stats", "--by", "schema,code", "--where", #"code == "BadTopic""#, "--json")
        try #require(grouped.output.count == 1, "\(grouped.errors)")
        #expect(
            grouped.output[0].hasPrefix(
                #"{"count":\#(letters.count / 5),"schema":"order.v1","code":"BadTopic","oldest_age_ms":"#))

        let list = try await dead.run("list", "--limit", "3")
        #expect(list.exit.status == .exited(0))
        #expect(list.output.count == 4)
        #expect(list.output[1].hasPrefix("\(DeadLetterQueue.id(0))  apns   BadTopic        com.example.app  "))
        #expect(list.output[1].hasSuffix("APNs answered 400 BadTopic."))
        #expect(
            list.errors == [
                "martlet: showing the first 3 matches of \(letters.count) dead letters; for more, pass --limit N"
            ])
        let chosen = try await dead.run(
            "list", "--json", "--where", #"body.payload.n in [7, 8] && header["tenant"] == "blue""#)
        #expect(try chosen.output.map { try JSONDocument($0).root["id"]?.string } == [7, 8].map(DeadLetterQueue.id))

        let show = try await dead.run("show", DeadLetterQueue.id(3))
        #expect(show.output.contains("code          BadDeviceToken"))
        #expect(show.output.contains { $0.hasPrefix("  push-original-message-id  order-3") })
        #expect(show.output.contains(#" "push_type":"alert","payload":{"aps":{"alert":"N° 3"},"n":3} }"#))
        #expect(!show.output.joined().contains("0a1b0a1b0a1b"))
        let whole = try await dead.run("show", DeadLetterQueue.id(3), "--reveal", "--json")
        #expect(whole.output.joined().contains("0a1b0a1b0a1b"))
        let missing = try await dead.run("show", "absent")
        #expect(missing.exit.status == .exited(1))
        #expect(missing.errors == ["martlet: dead letter absent not found"])

        let file = try TemporaryDirectory()
        let export = try await dead.run("export", file.file("all.ndjson"))
        #expect(export.exit.status == .exited(0), "\(export.errors)")
        #expect(try Files.lines(of: file.file("all.ndjson")).count == letters.count)
        #expect(DeadLetterQueue.mode(of: file.file("all.ndjson")) == 0o600)

        DeadLetterQueue.expect(try await dead.consume(letters.count), are: letters)
    }

    @Test func aFilterIsRefusedBeforeConnecting() async throws {
        let result = try await ChildProcess.run([
            Products.executable("martlet"), "dead", "list", "--url", "amqp://127.0.0.1:\(FreePort.choose())", "--where",
            "clas == \"apns\"",
        ])
        #expect(result.exit.status == .exited(2))
        #expect(
            result.errors == [
                "martlet: --where:1:1: unknown field 'clas'; did you mean class?", "clas == \"apns\"", "^",
            ])
    }

    /// Scans lose no message of a queue that discards messages after more than 20 failed deliveries.
    @Test func aScanEndsBeforeItCouldLoseAMessage() async throws {
        let dead = try await DeadLetterQueue("worn")
        let letters = (0..<20).map { dead.letter($0) }
        try await dead.publish(letters)
        var refusals = 0
        let directory = try TemporaryDirectory("worn")
        try await dead.wear(20, times: 14)
        #expect(try await dead.run("stats").exit.status == .exited(0))
        for _ in 0..<8 {
            let refused = try await dead.run("stats")
            guard refused.exit.status != .exited(0) else { continue }
            #expect(refused.exit.status == .exited(1))
            #expect(refused.output.last?.hasSuffix(" in worn.dead; the scan is incomplete") == true)
            let errorText = refused.errors.joined()
            #expect(errorText.contains("martlet: worn.dead: scan stopped: a dead letter had"))
            #expect(errorText.contains(#""delivery-limit":-1"#) && errorText.contains("--delivery-limit none"))
            #expect(errorText.contains("--priority 100") && errorText.contains("effective_policy_definition"))
            refusals += 1
        }
        #expect(refusals >= 5)
        let file = directory.file("dropped.ndjson")
        let drop = try await dead.run("drop", "--export", file, "--where", #"code == "none""#, "--yes")
        #expect(drop.exit.status == .exited(0) || access(file, F_OK) != 0)
        let redrive = try await dead.run("redrive", "--limit", "3")
        #expect(redrive.exit.status == .exited(1) || redrive.exit.status == .exited(0))
        let taken = try await dead.consume(dead.count()) + dead.consume(dead.count(in: "requests"), from: "requests")
        #expect(Set(taken.map(\.body)) == Set(letters.map(\.body)))
        #expect(taken.count == letters.count)
    }

    @Test func aQueueWithoutALimitCanBeScannedAnyNumberOfTimes() async throws {
        let dead = try await DeadLetterQueue("boundless", deliveryLimit: nil)
        let letters = (0..<5).map { dead.letter($0) }
        try await dead.publish(letters)
        try await dead.wear(5, times: 15)
        // Each scan counts as a failed delivery.
        let known = try await dead.stats(whereManagementShows: [
            ("3.10.8", #"{"effective_policy_definition":{}}"#),
            ("4.2.0", #"{"effective_policy_definition":{"delivery-limit":-1}}"#),
            ("4.2.0", #"{"effective_policy_definition":{}}"#), ("3.10.8", "{}"),
            ("3.10.8", #"{"effective_policy_definition":{"delivery-limit":4}}"#),
        ])
        #expect(known.map(\.exit.status) == [.exited(0), .exited(0), .exited(1), .exited(1), .exited(1)])
        let spare =
            "boundless.dead: each scan counts as a failed delivery, and RabbitMQ discards a message after more than 4 failed deliveries. "
        #expect(known.last?.errors.first?.contains(spare) == true, "\(known.last?.errors ?? [])")
        // If the command followed an option that contradicts the queue's limit, RabbitMQ could discard dead letters.
        let none = try await dead.stats(
            whereManagementShows: [("4.2.0", #"{"effective_policy_definition":{"delivery-limit":20}}"#)],
            "--delivery-limit", "none")
        #expect(none.map(\.exit.status) == [.exited(1)])
        #expect(none[0].errors.first?.contains("the delivery limit is 20, lower than --delivery-limit") == true)
        try await dead.wear(5, times: 25)
        #expect(try await dead.run("stats").exit.status == .exited(1))
        #expect(try await dead.run("stats", "--delivery-limit", "none").exit.status == .exited(0))
        DeadLetterQueue.expect(try await dead.consume(5), are: letters)
    }

    @Test func aRedriveEndsWhenItsReaderExits() async throws {
        let dead = try await DeadLetterQueue("unread")
        try await dead.publish((0..<300).map { dead.letter($0) })
        let redrive = try dead.command(["redrive", "--all", "--json", "--rate", "100/s"]).joined(separator: "' '")
        let run = try await ChildProcess.run(["bash", "-o", "pipefail", "-c", "'\(redrive)' | head -n 1"])
        #expect(run.exit.status == .exited(1))
        #expect(run.output.count == 1)
        let left = try await dead.count()
        #expect(left > 0)
        #expect(try await dead.count(in: "requests") + left == 300)
    }

    @Test func aTokenUsedAsAnIDIsShortened() async throws {
        let dead = try await DeadLetterQueue("tokens")
        let token = String(repeating: "0a1b", count: 16)
        var letter = dead.letter(1)
        letter.messageID = token
        letter.body = Array(#"{"id":"\#(token)","app":"\#(token)"}"#.utf8)
        try await dead.publish([letter])
        let all = [
            ["list"], ["list", "--json"], ["stats"], ["stats", "--json"], ["show", token],
            ["redrive", "--all", "--json"],
            ["edit", token],
        ]
        for words in all {
            let run = try await ChildProcess.run(dead.command(words, ["VISUAL": "sed -i s/app/ap/"]))
            if let path = run.errors.last?.split(separator: " ").last { unlink(String(path)) }
            #expect(!(run.output + run.errors).joined().contains(token), "\(words)")
        }
    }

    // `--limit` may end a scan before a requested dead letter is read.
    @Test func anUnreadIDIsNotReportedAsMissing() async throws {
        let dead = try await DeadLetterQueue("unseen")
        try await dead.publish([dead.letter(0), dead.letter(1), dead.letter(2)])
        let directory = try TemporaryDirectory()
        let dropped = try await dead.run(
            "drop", "--export", directory.file("one.ndjson"), "--limit", "1", "--yes", DeadLetterQueue.id(0),
            DeadLetterQueue.id(2))
        #expect(dropped.exit.status == .exited(1))
        #expect(
            dropped.errors.last
                == "martlet: dead letter \(DeadLetterQueue.id(2)) not found among the 1 message read",
            "\(dropped.errors)")
    }

    @Test func chosenDeadLettersAreRedrivenAndOthersStayInOrder() async throws {
        let dead = try await DeadLetterQueue("redriven")
        let letters = (0..<60).map { number in
            dead.letter(
                number, code: number % 3 == 0 ? "BadTopic" : "BadDeviceToken", pushType: number == 4 ? "alrt" : "alert")
        }
        try await dead.publish(letters)
        let filter = #"code == "BadDeviceToken""#
        let dry = try await dead.run("redrive", "--where", filter, "--dry-run")
        #expect(dry.exit.status == .exited(1), "\(dry.errors)")
        #expect(
            dry.output.last
                == "would be redriven 39, would fail again 1, kept in the queue (schema.enum 1); messages read: 60")
        #expect(dry.errors.count == 2 && dry.errors[0].hasPrefix("martlet: \(DeadLetterQueue.id(4)): "))
        let remedy = try #require(dry.errors.last)
        #expect(
            remedy.hasPrefix(
                "martlet: to correct a request that would fail again, run: martlet dead-letters edit --url "))
        #expect(
            remedy.hasSuffix(" --prefix redriven --where '\(filter)' \(DeadLetterQueue.id(4))"), "\(remedy)")
        #expect(try await dead.count(in: "requests") == 0)

        let few = try await dead.run("redrive", "--where", filter, "--limit", "10", "--json")
        #expect(few.exit.status == .exited(1), "\(few.errors)")
        // The invalid dead letter stays at the head, and does not count toward the limit of ten.
        let lines = try few.output.map { try JSONDocument($0).root }
        #expect(lines.count { $0["event"]?.string == "redriven" } == 10)
        #expect(lines.last?["redriven"]?.int == 10 && lines.last?["invalid"]?.int == 1)
        let named = try await dead.run("redrive", DeadLetterQueue.id(50), "absent", "--reset-attempts")
        #expect(named.exit.status == .exited(1))
        #expect(named.errors == ["martlet: dead letter absent not found"])
        let rest = try await dead.run("redrive", "--where", filter, "--rate", "1000/s")
        #expect(
            rest.output == ["redriven 28, would fail again 1, kept in the queue (schema.enum 1); messages read: 49"])

        let requests = try await dead.consume(39, from: "requests")
        let expected = letters.enumerated().filter { $0.offset % 3 != 0 && $0.offset != 4 }
        #expect(Set(requests.map(\.body)) == Set(expected.map(\.element.body)))
        for request in requests {
            let original = try #require(letters.first { $0.body == request.body })
            #expect(request.properties.messageID == original.headers["push-original-message-id"]?.stringValue)
            let isReset = request.body == letters[50].body
            #expect(request.properties.header("push-attempt") == (isReset ? nil : 1))
            #expect(request.properties.header("push-outcome") == nil)
            #expect(request.properties.header("tenant") == "blue")
            #expect(request.properties.type == "order.v1" && request.properties.priority == 4)
            for name in ["X-Request-ID", "price"] {
                #expect(request.properties.header(name) == original.headers[name])
            }
        }
        let left = letters.enumerated().filter { $0.offset % 3 == 0 || $0.offset == 4 }
        DeadLetterQueue.expect(try await dead.consume(left.count), are: left.map(\.element))
    }

    /// With the worker's configuration, the command finds the refusals before it publishes requests, and counts the
    /// refusals by reason.
    @Test func requestsThatAWorkerWouldRefuseAreNotSent() async throws {
        let dead = try await DeadLetterQueue("rules")
        let directory = try TemporaryDirectory()
        try directory.write("schema.json", #"{"required":["n"],"properties":{"n":{"maximum":99}}}"#)
        let config = try dead.configuration(
            """
            apps: {com.example.app: {}}
            payload_schemas: {"com.example.*": schema.json}
            limits: {message_bytes_max: 2000}
            """, in: directory)
        var letters = [7, 100, 101].map { dead.letter($0) } + (0..<6).map { dead.letter($0) }
        func replace(_ index: Int, _ text: String, by other: String) {
            letters[index].body = Array(
                String(decoding: letters[index].body, as: UTF8.self).replacing(text, with: other).utf8)
        }
        replace(3, "com.example.app", by: "com.example.other")
        replace(4, #""push_type""#, by: #""environment":"sandbox","push_type""#)
        replace(5, "N°", by: String(repeating: "N", count: 2000))
        try await dead.publish(letters)
        let reasons = "schema.maximum 2, app.environment 1, app.unknown 1, size.message_bytes 1"
        let refusals = "would fail again 5, kept in the queue (\(reasons))"
        let dry = try await dead.run(["redrive", "--dry-run"], config: config)
        #expect(dry.output.last == "would be redriven 4, \(refusals); messages read: 9", "\(dry.errors)")
        #expect(try await dead.count(in: "requests") == 0)

        let sent = try await dead.run(["redrive", "--all", "--json"], config: config)
        #expect(sent.exit.status == .exited(1))
        let lines = try sent.output.map { try JSONDocument($0).root }
        #expect(
            lines.filter { $0["event"]?.string == "invalid" }.map { $0["reason"]?.string } == [
                "schema.maximum", "schema.maximum", "app.unknown", "app.environment", "size.message_bytes",
            ])
        #expect(lines.last?["redriven"]?.int == 4 && lines.last?["invalid"]?.int == 5)
        #expect(lines.last?["would_fail_again"]?["schema.maximum"]?.int == 2)
        #expect(try await dead.consume(4, from: "requests").map(\.body) == [0, 6, 7, 8].map { letters[$0].body })

        // An edited body that violates the app's schema is not published.
        let id = DeadLetterQueue.id(100)
        let wrong = try await dead.run(
            ["edit", id], config: config, environment: ["VISUAL": "sed -i s/:100/:200/"])
        #expect(wrong.exit.status == .exited(1))
        #expect(wrong.errors.first?.contains("/payload/n must be at most 99") == true, "\(wrong.errors)")
        if let path = wrong.errors.last?.split(separator: " ").last { unlink(String(path)) }
        let right = try await dead.run(["edit", id], config: config, environment: ["VISUAL": "sed -i s/:100/:9/"])
        #expect(right.exit.status == .exited(0), "\(right.errors)")
        #expect(try await dead.consume(1, from: "requests").count == 1)

        // A line with an invalid body is not published either.
        let file = directory.file("rest.ndjson")
        #expect(try await dead.run(["drop", "--export", file, "--yes"], config: config).exit.status == .exited(0))
        let imported = try await dead.run(["import", file, "--redrive"], config: config)
        #expect(imported.output == ["redriven 0, not published 4"], "\(imported.errors)")
        #expect(try await dead.count() == 0)
    }

    /// A dead letter from the queue of registration commands is checked as a command, also by `edit` and `import
    /// --redrive`.
    @Test func registrationCommandsReturnToTheirQueue() async throws {
        let dead = try await DeadLetterQueue("commands")
        let queue = "\(dead.prefix).registrations"
        try await BrokerClients.withAdmin(dead.url) { admin in
            try await admin.declareQueue(queue, arguments: ["x-queue-type": "quorum"])
        }
        let directory = try TemporaryDirectory()
        let config = try dead.configuration("apps: {com.example.app: {}}", in: directory)
        let letters = (0..<4).map { number in
            var letter = dead.letter(number)
            let app = number == 0 ? "app" : "other"
            letter.body = Array(
                #"{"command":"unregister","app":"com.example.\#(app)","user":"ann","registered_at":\#(time(nil))000}"#
                    .utf8)
            letter.headers = FieldTable(letter.headers.entries.filter { $0.name != "push-origin-queue" })
            letter.headers.append("push-origin-queue", .string(queue))
            return letter
        }
        try await dead.publish(letters)
        let redriven = try await dead.run(["redrive", "--all"], config: config)
        #expect(
            redriven.output == [
                "redriven 1, would fail again 3, kept in the queue (app.unknown 3); messages read: 4"
            ], "\(redriven.errors)")
        let edited = try await dead.run(
            ["edit", DeadLetterQueue.id(2)], config: config, environment: ["VISUAL": "sed -i s/other/app/"])
        #expect(edited.exit.status == .exited(0), "\(edited.errors)")
        let file = directory.file("rest.ndjson")
        #expect(try await dead.run(["drop", "--export", file, "--yes"], config: config).exit.status == .exited(0))
        let refused = try await dead.run(["import", file, "--redrive"], config: config)
        #expect(refused.output == ["redriven 0, not published 2"])
        #expect(try await dead.run("import", file, "--redrive").output == ["redriven 2"])
        let commands = try await dead.consume(4, from: "registrations")
        #expect(commands.map(\.properties.messageID) == ["order-0", "order-2", "order-1", "order-3"])
        #expect(try await dead.count(in: "requests") == 0)
    }

    /// If standard input is not a terminal, a redrive of every dead letter needs `--all` or `--yes`.
    @Test func aRedriveOfEveryDeadLetterIsConfirmed() async throws {
        let dead = try await DeadLetterQueue("confirmed")
        try await dead.publish((0..<4).map { dead.letter($0) })
        for given in [[], ["--json"], ["--rate", "5/s", "--reset-attempts"]] {
            let refused = try await ChildProcess.run(dead.command(["redrive"] + given))
            #expect(refused.exit.status == .exited(2))
            #expect(refused.output.isEmpty)
            #expect(
                refused.errors == [
                    "martlet: redrive without an ID, --where or --limit sends every dead letter; to do so, run: martlet "
                        + (["dead-letters redrive --url URL --prefix \(dead.prefix) --all"] + given)
                        .joined(separator: " ")
                ])
        }
        #expect(try await dead.count() == 4)
        #expect(try await dead.run("redrive", "--dry-run").exit.status == .exited(0))
        #expect(try await dead.run("redrive", "--limit", "1").output == ["redriven 1; messages read: 1"])
        #expect(try await dead.run("redrive", DeadLetterQueue.id(1)).output == ["redriven 1; messages read: 3"])
        #expect(try await dead.run("redrive", "--where", "attempts == 9").output == ["redriven 0; messages read: 2"])
        #expect(try await dead.run("redrive", "--yes").output == ["redriven 2; messages read: 2"])
        #expect(try await dead.count() == 0)
    }

    @Test func unpublishableDeadLettersStay() async throws {
        let dead = try await DeadLetterQueue("stuck")
        let letters = (0..<20).map { dead.letter($0) }
        try await dead.publish(letters)
        for words in [["redrive", "--all"], ["redrive", "--dry-run"], ["edit", DeadLetterQueue.id(1)]] {
            let nowhere = try await ChildProcess.runAtBroker(dead.command(words + ["--to", "stuck.nowhere"]))
            #expect(nowhere.exit.status == .exited(1) && nowhere.output.isEmpty)
            let errors = nowhere.errors
            #expect(errors.count == 1 && errors[0].hasSuffix(": queue stuck.nowhere is missing"), "\(errors)")
        }
        try await PrivateBroker.shared.rabbitmqctl(
            "set_policy", "--apply-to", "queues", "full", #"^stuck\.requests$"#,
            #"{"max-length":1,"overflow":"reject-publish"}"#)
        let full = try await dead.run("redrive", "--yes", "--rate", "20/s")
        #expect(full.exit.status == .exited(1))
        #expect(full.errors.first?.contains("the queue is full or unavailable") == true)
        let sent = try await dead.count(in: "requests")
        // The command stops after a nack, because the broker would also reject the other messages.
        #expect(full.output.first?.hasPrefix("redriven \(sent), not published ") == true && sent < 10)
        #expect(try await dead.count() == 20 - sent)

        let edit = ["edit", DeadLetterQueue.id(19)]
        let edited = try await ChildProcess.run(dead.command(edit, ["VISUAL": "sed -i s/alert/voip/"]))
        #expect(edited.exit.status == .exited(1))
        let kept = try #require(edited.errors.last?.split(separator: " ").last.map(String.init))
        defer { unlink(kept) }
        #expect(edited.errors.last == "martlet: your changes are in \(kept)")
        #expect(try Files.lines(of: kept).joined(separator: "\n").contains(#""push_type":"voip""#))
        let empty = try await DeadLetterQueue("empty")
        #expect(try await empty.run("stats").output == ["0 dead letters in empty.dead"])
        #expect(try await empty.run("redrive", "--all").output == ["redriven 0; messages read: 0"])
        let absent = try await dead.run("list", "--prefix", "elsewhere")
        #expect(absent.exit.status == .exited(2))
        DeadLetterQueue.expect(try await dead.consume(20 - sent), are: Array(letters[sent...]))
    }

    @Test func droppedDeadLettersAreImportedByteForByte() async throws {
        let dead = try await DeadLetterQueue("dropped")
        var letters = (0..<30).map { dead.letter($0) }
        letters[3].body = [0xFF, 0x00, 0xC3]
        letters[4].headers.append("part", .double(0.1))
        letters[4].headers.append("blob", .bytes([0, 1, 255]))
        letters[4].headers.append("list", .array([1, "x", .table(["deep": .void])]))
        try await dead.publish(letters)
        let directory = try TemporaryDirectory()
        let file = directory.file("dropped.ndjson")
        let unasked = try await dead.run("drop", "--export", file)
        #expect(unasked.exit.status == .exited(2))
        #expect(unasked.errors == ["martlet: standard input is not a terminal; pass --yes"])

        let some = try await dead.run("drop", DeadLetterQueue.id(3), DeadLetterQueue.id(4), "--export", file, "--yes")
        #expect(some.exit.status == .exited(0), "\(some.errors)")
        #expect(some.output == ["dropped 2 of 30 dead letters; file: \(file)"])
        let again = try await dead.run("drop", "--export", file, "--yes")
        #expect(again.exit.status == .exited(1))
        #expect(again.errors == ["martlet: cannot write \(file): file exists"])
        #expect(try await dead.count() == 28)

        let back = try await dead.run("import", file)
        #expect(back.exit.status == .exited(0), "\(back.errors)")
        #expect(back.output == ["imported 2"])
        let order = letters.indices.filter { $0 != 3 && $0 != 4 } + [3, 4]
        DeadLetterQueue.expect(try await dead.consume(30), are: order.map { letters[$0] })

        // Import the lines as requests. A line that is not a notification request is not published.
        let sent = try await dead.run("import", file, "--redrive")
        #expect(sent.exit.status == .exited(1))
        #expect(sent.errors.count == 1 && sent.errors[0].hasPrefix("martlet: \(file):1: "))
        #expect(sent.output == ["redriven 1, not published 1"])
        let request = try #require(try await dead.consume(1, from: "requests").first)
        let letter = DeadLetter(letters[4].copy)
        #expect(request.properties.header("push-redrive")?.stringValue == "\(DeadLetterMark(letter).uuid)")

        // A message that the broker cannot accept does not stop the import, and is not retried.
        let header = #"{"body":"","headers":{"h":"\#(String(repeating: "x", count: 200_000))"}}"#
        try directory.write("large", ##"{"body":"1"}"## + "\n\(header)\n" + ##"{"body":"3"}"## + "\n")
        let large = try await dead.run("import", directory.file("large"), "--json")
        #expect(large.exit.status == .exited(1))
        #expect(large.output == [#"{"event":"summary","imported":2,"failed":1,"last_line":3}"#])
        #expect(!large.errors.contains { $0.contains("--from-line") }, "\(large.errors)")
        #expect(try await dead.consume(2).count == 2)

        let broken = directory.file("broken")
        try directory.write("broken", "{\"body\":\"\"}\n{\"body\":3}\n")
        let refused = try await dead.run("import", broken)
        #expect(refused.exit.status == .exited(1))
        #expect(refused.errors[0].hasPrefix("martlet: \(broken):2:1: expected an object with"))
    }

    /// An interrupted import prints the number of the last completed line, so that a later import repeats no message.
    @Test func anInterruptedImportContinuesAtItsLine() async throws {
        let dead = try await DeadLetterQueue("resumed")
        let letters = (0..<6).map { dead.letter($0) }
        let lines = letters.map { String(decoding: MessageLine.text(of: $0.copy), as: UTF8.self) }
        let directory = try TemporaryDirectory()
        let file = try directory.write("letters.ndjson", lines.map { $0 + "\n" }.joined())
        // The input stays open after four lines, so that the signal interrupts the import.
        let cut = try await ChildProcess(dead.command(["import", "-"]), input: .pipe)
        for line in lines.prefix(4) { try cut.write(line: line) }
        for _ in 0..<500 where try await dead.count() < 4 { try await Task.sleep(for: .milliseconds(20)) }
        cut.send(signal: SIGINT)
        #expect(try await cut.exit().status == .exited(130))
        #expect(
            await cut.errors.allLines().withoutBrokerNotices == [
                "martlet: standard input: completed up to line 4; to continue, run: martlet dead-letters import --url URL --prefix "
                    + "\(dead.prefix) --from-line 5 -"
            ])
        #expect(await cut.output.allLines() == ["imported 4"])

        let rest = try await dead.run("import", file, "--from-line", "5", "--json")
        #expect(rest.exit.status == .exited(0), "\(rest.errors)")
        #expect(rest.output == [#"{"event":"summary","imported":2,"failed":0,"last_line":6}"#])
        #expect(try await dead.run("import", file, "--from-line", "7").exit.status == .exited(0))
        let beyond = try await dead.run("import", file, "--from-line", "8")
        #expect(beyond.exit.status == .exited(1))
        #expect(beyond.errors == ["martlet: cannot read \(file): the file ends at line 6"])
        DeadLetterQueue.expect(try await dead.consume(6), are: letters)
    }

    @Test func aBodyIsEditedInAnEditor() async throws {
        let dead = try await DeadLetterQueue("edited")
        let letters = (0..<4).map { dead.letter($0, pushType: $0 == 2 ? "alrt" : "alert") }
        try await dead.publish(letters)
        let id = DeadLetterQueue.id(2)
        let unchanged = try await dead.run("edit", id, environment: ["EDITOR": "true", "VISUAL": "true"])
        #expect(unchanged.output == ["unchanged, nothing sent"])
        let failed = try await dead.run("edit", id, environment: ["VISUAL": "false"])
        #expect(failed.errors == ["martlet: cannot send the body: the editor failed"])
        let wrong = try await dead.run("edit", id, environment: ["VISUAL": "sed -i s/alrt/allert/"])
        #expect(wrong.exit.status == .exited(1))
        #expect(wrong.errors.first?.hasPrefix("body:2:") == true, "\(wrong.errors)")
        #expect(wrong.errors.contains("martlet: cannot send the body: a worker would refuse the body"))
        let kept = try #require(wrong.errors.last?.split(separator: " ").last.map(String.init))
        #expect(wrong.errors.last == "martlet: your changes are in \(kept)" && unlink(kept) == 0)
        #expect(try await dead.count() == 4)

        let edited = try await dead.run("edit", id, environment: ["VISUAL": "sed -i s/alrt/alert/"])
        #expect(edited.exit.status == .exited(0), "\(edited.errors)")
        let request = try #require(try await dead.consume(1, from: "requests").first)
        #expect(request.body == DeadLetterQueue.body(2))
        #expect(request.properties.header("push-edited-from")?.stringValue == id)
        #expect(request.properties.header("push-attempt") == nil)
        DeadLetterQueue.expect(try await dead.consume(3), are: [0, 1, 3].map { letters[$0] })
    }

    /// `redrive` recommends `edit` even if only the content encoding is wrong. With `--yes`, `edit` then removes only
    /// the encoding.
    @Test func onlyAWrongContentEncodingIsRemoved() async throws {
        let dead = try await DeadLetterQueue("encoding")
        var letter = dead.letter(0)
        letter.contentEncoding = "gzip"
        try await dead.publish([letter])
        let id = DeadLetterQueue.id(0)
        let redriven = try await dead.run("redrive", id)
        #expect(redriven.errors.last?.contains("martlet dead-letters edit") == true, "\(redriven.errors)")
        // An unchanged file may mean that the operator gave up.
        let command = "martlet dead-letters edit --url URL --prefix encoding"
        let unasked = try await dead.run("edit", id, environment: ["VISUAL": "true"])
        #expect(unasked.output == ["unchanged, nothing sent"])
        #expect(
            unasked.errors == [
                "martlet: only content-encoding (gzip) is wrong; to drop this property, run: \(command) --yes \(id)"
            ])
        let sent = try await dead.run("edit", id, "--yes", environment: ["VISUAL": "true"])
        #expect(sent.exit.status == .exited(0), "\(sent.errors)")
        let request = try #require(try await dead.consume(1, from: "requests").first)
        #expect(request.body == letter.body && request.properties.contentEncoding == nil)
        #expect(try await dead.count() == 0)

        // Even with `--yes`, an unchanged body is not published if the body itself is invalid or if nothing is wrong.
        var wrong = dead.letter(1, pushType: "alrt")
        wrong.contentEncoding = "gzip"
        try await dead.publish([wrong, dead.letter(2)])
        for index in 1...2 {
            let unchanged = try await dead.run(
                "edit", DeadLetterQueue.id(index), "--yes", environment: ["VISUAL": "true"])
            #expect(unchanged.output == ["unchanged, nothing sent"] && unchanged.errors == [])
        }
        #expect(try await dead.count() == 2)
    }

    /// The remedy contains a complete command for each configured request queue.
    @Test func anUnknownRequestQueueIsReportedWithCompleteCommands() async throws {
        let dead = try await DeadLetterQueue("whither")
        let directory = try TemporaryDirectory()
        let config = try directory.write(
            "martlet.yaml",
            """
            amqp: {url: "\(dead.url)", prefix: whither, request_queues: [{name: whither.a}, {name: whither.b}]}
            apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
            apps: {com.example.app: {}}
            """)
        try await dead.publish([dead.letter(0)])
        let id = DeadLetterQueue.id(0)
        func advice(_ command: String, _ rest: String) -> String {
            "the original request queue is unknown or not configured; run: "
                + ["a", "b"].map {
                    "martlet dead-letters \(command) --config \(config) \(rest.replacing("?", with: "whither.\($0)"))"
                }
                .joined(separator: ", or: ")
        }
        let redriven = try await dead.run(["redrive", id], config: config)
        #expect(redriven.errors.first == "martlet: \(id): \(advice("redrive", "--to ? \(id)"))", "\(redriven.errors)")
        let edited = try await dead.run(["edit", id], config: config, environment: ["VISUAL": "true"])
        #expect(edited.errors == ["martlet: \(advice("edit", "--to ? \(id)"))"])
        let file = directory.file("letters")
        #expect(try await dead.run(["export", file], config: config).exit.status == .exited(0))
        let imported = try await dead.run(["import", file, "--redrive"], config: config)
        let left = "martlet: \(file):1: \(advice("import", "--redrive --to ? \(file)"))"
        #expect(imported.errors.first == left, "\(imported.errors)")
    }

    // A shell would run the file itself if the editor's name were empty.
    @Test(arguments: [
        ["VISUAL": "", "EDITOR": "sed -i s/N°/No/"], ["VISUAL": "", "EDITOR": "", "PATH": ""],
        ["VISUAL": " ", "EDITOR": "sed -i s/N°/No/"], ["VISUAL": " ", "EDITOR": "\t", "PATH": ""],
        ["VISUAL": "sed -i s/N°/No/", "TMPDIR": ""],
    ])
    func anEmptyVariableNamesNoEditor(_ environment: [String: String]) async throws {
        // The cases run concurrently, so each uses its own prefix.
        let name = environment.map { "\($0)\($1.utf8.count)" }.sorted().joined()
        let dead = try await DeadLetterQueue("unnamed\(name)")
        let directory = try TemporaryDirectory()
        try await directory.writeProgram("vi", "#!/bin/sh\nexec /bin/sed -i s/N°/No/ \"$1\"\n")
        var environment = environment
        if environment["PATH"] != nil { environment["PATH"] = "\(directory.path):/usr/bin:/bin" }
        try await dead.publish([dead.letter(0)])
        let edited = try await ChildProcess.run(dead.command(["edit", DeadLetterQueue.id(0)], environment))
        #expect(edited.exit.status == .exited(0), "\(edited.errors)")
        #expect(try await dead.consume(1, from: "requests").count == 1)
    }

    /// The same request may have failed several times. The command does not guess which dead letter to edit.
    @Test func anAmbiguousIDIsNotEdited() async throws {
        let dead = try await DeadLetterQueue("several")
        var letters = (0..<3).map { dead.letter($0 == 2 ? 1 : $0) }
        letters[2].headers.entries.removeAll { $0.name == "push-failed-at" }
        letters[2].headers.append("push-failed-at", .integer(DeadLetterQueue.failedAt + 9000))
        try await dead.publish(letters + [letters[0]])
        let id = DeadLetterQueue.id(1)
        let environment = ["VISUAL": "sed -i s/N°/No/"]
        let refused = try await dead.run("edit", id, environment: environment)
        #expect(refused.exit.status == .exited(1))
        let chosen = "failed_at == \(DeadLetterQueue.failedAt + 9000)"
        #expect(
            refused.errors == [
                "martlet: several dead letters have the ID \(id): choose a dead letter with --where; for the newest, "
                    + "run: martlet dead-letters edit --url URL --prefix \(dead.prefix) --where '\(chosen)' \(id)"
            ])
        #expect(refused.output == [])
        DeadLetterQueue.expect(try await dead.consume(4), are: letters + [letters[0]])

        try await dead.publish(letters + [letters[0]])
        let edited = try await dead.run("edit", id, "--where", chosen, environment: environment)
        #expect(edited.exit.status == .exited(0), "\(edited.errors)")
        // Identical dead letters are interchangeable.
        let same = try await dead.run("edit", DeadLetterQueue.id(0), environment: environment)
        #expect(same.exit.status == .exited(0), "\(same.errors)")
        #expect(try await dead.consume(2, from: "requests").count == 2)
        DeadLetterQueue.expect(try await dead.consume(2), are: [letters[1], letters[0]])
    }

    /// Waits until the process has opened the file.
    private static func waitUntilOpen(_ path: String, in process: ChildProcess) async throws {
        var wanted = stat()
        try #require(stat(path, &wanted) == 0)
        try await poll(until: "the process has opened \(path)", every: .milliseconds(20)) {
            try Files.names(in: "/proc/\(process.pid)/fd").contains { name in
                var found = stat()
                return stat("/proc/\(process.pid)/fd/\(name)", &found) == 0
                    && (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino)
            }
        }
    }

    /// A signal ends the wait for the writer of a named pipe.
    @Test func `An import of a named pipe waits for its writer and can be interrupted`() async throws {
        let dead = try await DeadLetterQueue("piped")
        let directory = try TemporaryDirectory()
        let fifo = directory.file("letters")
        try #require(mkfifo(fifo, 0o600) == 0)
        let waiting = try await ChildProcess(dead.command(["import", fifo]))
        try await Self.waitUntilOpen(fifo, in: waiting)
        waiting.send(signal: SIGINT)
        #expect(try await waiting.exit().status == .exited(130))

        let letter = dead.letter(0)
        let reading = try await ChildProcess(dead.command(["import", fifo]))
        try await Self.waitUntilOpen(fifo, in: reading)
        let writer = open(fifo, O_WRONLY | O_CLOEXEC)
        let line = MessageLine.text(of: letter.copy) + [0x0A]
        #expect(write(writer, line, line.count) == line.count)
        close(writer)
        #expect(try await reading.exit().status == .exited(0))
        DeadLetterQueue.expect(try await dead.consume(1), are: [letter])
    }

    /// A slow pager does not end the connection or delay an interruption.
    @Test(arguments: [["export", "-"], ["show"], ["show", "--json"], ["redrive", "--all", "--json"]])
    func aSlowReaderDoesNotBlockTheLoop(_ words: [String]) async throws {
        let dead = try await DeadLetterQueue("paged" + words.joined().filter(\.isLetter))
        let letters = (0..<300).map { number in
            // All dead letters have the same ID. A worker would refuse the dead letters, so they stay in the queue.
            var letter = dead.letter(number, pushType: "alrt")
            letter.messageID = "all"
            return letter
        }
        try await dead.publish(letters)
        let directory = try TemporaryDirectory()
        let fifo = directory.file("pager")
        try #require(mkfifo(fifo, 0o600) == 0)
        // Open both ends, so that the open does not block. The test reads nothing.
        let reader = open(fifo, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        // F_SETPIPE_SZ, which Glibc's module lacks.
        try #require(fcntl(reader, 1031, 4096) == 4096)
        let ids = words[0] == "show" ? ["all"] : []
        let command = try await ChildProcess(dead.command(words + ids), output: .file(fifo))
        try await Self.untilFull(reader)
        command.send(signal: SIGINT)
        #expect(try await command.exit().status == .exited(130))
        let errors = await command.errors.allLines().withoutBrokerNotices
        #expect(errors.allSatisfy { $0.hasSuffix("lines not written: standard output is not read") }, "\(errors)")
        DeadLetterQueue.expect(try await dead.consume(300), are: letters)
    }

    /// Waits until a pipe of 4096 bytes is full.
    private static func untilFull(_ pipe: Int32) async throws {
        var room = pollfd(fd: pipe, events: Int16(POLLOUT), revents: 0)
        for _ in 0..<2000 {
            if poll(&room, 1, 0) == 0 { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ProcessError("the pipe is not full")
    }
}
