import AMQP
import Actions
import ControlProtocol
import EventLoop
import Glibc
import JSON
import TestKit
import Testing

@testable import Console

/// Stops by results, drops and edits of dead letters from a console at a real broker.
@Suite(.timeLimit(.minutes(10))) struct ConsoleDeadLetterTests {
    private static let brokerStart = Task { try await PrivateBroker() }
    private static let first = "0d000000-0000-4000-8000-000000000001"
    private static let second = "0d000000-0000-4000-8000-000000000002"

    /// Runs a test with a console and a declared topology.
    ///
    /// - Parameter hasJournal: whether the console has a history.
    private func run(
        _ prefix: String, _ section: String = "role_max: admin", hasJournal: Bool = false,
        _ body: @escaping @Sendable (ConsoleHarness, PrivateBroker) async throws -> Void
    ) async throws {
        let broker = try await Self.brokerStart.value
        try await ConsoleHarness.declare(broker.url, prefix: prefix, hasJournal: hasJournal)
        // The tests send requests faster than an operator.
        let limits = SessionTable.Limits(requestsPerSecond: 1000)
        try await ConsoleHarness.run(
            section, broker: broker.url, prefix: prefix, limits: limits, journal: hasJournal ? [] : nil
        ) { console in
            let session = try await console.logIn(.view, name: "tests")
            try await console.waitForChange(session, "the connection") { $0["broker"]?["connected"]?.bool == true }
            try await body(console, broker)
        }
    }

    private static func publish(_ messages: [OutgoingMessage], _ broker: PrivateBroker) async throws {
        let outcomes = try await BrokerClients.publish(messages, to: broker.url)
        try #require(outcomes.allSatisfy { $0 == .confirmed })
    }

    private static func count(_ queue: String, _ broker: PrivateBroker) async throws -> Int {
        try await BrokerClients.withAdmin(broker.url) { try await $0.status(ofQueue: queue).messages }
    }

    @Test func `A redrive stops itself if the results of its requests are failures`() async throws {
        try await run("stops", hasJournal: true) { console, broker in
            let session = try await console.logIn(.operate)
            // Ids with decimal digits only, which both formats of the tests share.
            let numbers = Array(0..<10)
            try await Self.publish(
                (0..<10).flatMap { _ in numbers.map { QueuedMessages.letter($0, "stops") } }, broker)
            let old = QueuedMessages.failedAt + 1
            let earlier = numbers.map { JournalLines.refused($0, path: "/", at: old) }
            // The index is current, since the batch is new.
            try await console.publish(JournalLines.batch(earlier, at: console.loop.now.unixMilliseconds))
            try await Self.waitForHistory(console, session)
            let preview = try await console.preview(
                session, "redrive", #"{"where":null,"rate_per_second":20,"stop_above_percent":50}"#)
            #expect(
                try preview.json["summary"]?.string
                    == "Sends 100 dead letters of stops.dead as requests, at most 20 a second; stops "
                    + "itself above 50 % failures")
            #expect(try preview.json["arguments"]?["stop_above_percent"]?.int == 50, "\(preview.body)")
            #expect(try await console.begin(session, "redrive", preview, id: Self.first).status == 201)
            let now = console.loop.now.unixMilliseconds + 1000
            try await console.publish(
                JournalLines.batch(
                    (0..<10).map { JournalLines.refused($0, path: "/", at: now) }, sequence: 2, at: now))
            let ended = try await console.end(session, Self.first)
            #expect(ended["state"]?.string == "done", "\(ended["error"]?.string ?? "")")
            let result = try #require(ended["result"]?.string)
            #expect(result.hasPrefix("stopped by itself, because "), "\(result)")
            #expect(result.contains(" results are not accepted: redriven "), "\(result)")
            let (sent, kept) = (
                try await Self.count("stops.requests", broker), try await Self.count("stops.dead", broker)
            )
            #expect(sent >= 20 && kept > 0 && sent + kept == 100, "\(sent) \(kept)")
        }
    }

    /// Waits until the console reads the journal.
    private static func waitForHistory(_ console: ConsoleHarness, _ session: String) async throws {
        try await console.waitForChange(session, "the history", at: "/api/causes") { body in
            body["totals"]?["journal_seconds_behind"]?.int != nil
        }
    }

    @Test func `A redrive that stops itself has a rate, and needs a history that receives results`() async throws {
        try await run("behind", hasJournal: true) { console, broker in
            let session = try await console.logIn(.operate)
            try await Self.publish([QueuedMessages.letter(0, "behind")], broker)
            try await Self.waitForHistory(console, session)
            let plan = try await console.preview(session, "redrive", #"{"where":null,"stop_above_percent":20}"#)
            #expect(try plan.json["arguments"]?["rate_per_second"]?.int == ResendAction.watchedRate, "\(plan.body)")
            try await broker.rabbitmqctl("delete_queue", "behind.journal")
            try await console.waitForChange(session, "the lost history", at: "/api/causes") { body in
                body["totals"]?["journal_seconds_behind"]?.int == nil
            }
            let refused = try await console.preview(session, "redrive", #"{"where":null,"stop_above_percent":20}"#)
            #expect(refused.status == 409 && refused.code == "history", "\(refused.body)")
        }
    }

    @Test func `A console without a history refuses a redrive that stops itself`() async throws {
        try await run("blind") { console, broker in
            let session = try await console.logIn(.operate)
            try await Self.publish([QueuedMessages.letter(0, "blind")], broker)
            let refused = try await console.preview(
                session, "redrive", #"{"where":null,"stop_above_percent":20}"#)
            #expect(refused.status == 400 && refused.code == "invalid", "\(refused.body)")
            for percent in ["0", "100", "2.5", #""20""#] {
                let wrong = try await console.preview(
                    session, "redrive", #"{"where":null,"stop_above_percent":\#(percent)}"#)
                #expect(wrong.status == 400 && wrong.code == "invalid", "\(percent): \(wrong.body)")
            }
        }
    }

    @Test func `An admin drops dead letters after their export, and no other role`() async throws {
        try await run("drops", "role_max: admin, export_folder: FOLDER/exports") { console, broker in
            let lesser = try await console.logIn(.operate)
            #expect(try await console.preview(lesser, "drop", #"{"where":null}"#).code == "role")
            let admin = try await console.logIn(.admin, name: "ada")
            try await Self.publish(
                (0..<5).map { QueuedMessages.letter($0, "drops") }
                    + (5..<8).map { QueuedMessages.letter($0, "drops", code: "BadDeviceToken") }, broker)
            let preview = try await console.preview(admin, "drop", #"{"where":"code == \"BadTopic\"","max":null}"#)
            let plan = try preview.json
            #expect(plan["count"]?.int == 5 && plan["role"]?.string == "admin", "\(preview.body)")
            #expect(
                plan["summary"]?.string == "Drops 5 dead letters of drops.dead after their export to a file")
            #expect(
                plan["command"]?.string?.hasPrefix("martlet dead-letters drop --config martlet.yaml --where ") == true)
            #expect(try await Self.count("drops.dead", broker) == 8)
            #expect(try await console.begin(lesser, "drop", preview, id: Self.first).code == "role")
            #expect(try await console.begin(admin, "drop", preview, id: Self.first).status == 201)
            let ended = try await console.end(admin, Self.first)
            let result = try #require(ended["result"]?.string, "\(ended["error"]?.string ?? "")")
            let folder = console.folder.file("exports")
            let start = "dropped 5 of 5 dead letters; file: \(folder)/dead-"
            try #require(result.hasPrefix(start) && result.hasSuffix(".jsonl"), "\(result)")
            let path = String(result.dropFirst("dropped 5 of 5 dead letters; file: ".count))
            let lines = try Files.lines(of: path)
            #expect(lines.count == 5)
            let ids = try lines.map {
                try JSONDocument(Array($0.utf8)).root["properties"]?["message_id"]?.string
            }
            #expect(ids == (0..<5).map(QueuedMessages.id))
            #expect(try Files.names(in: folder).count == 1)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o077 == 0)
            #expect(try await Self.count("drops.dead", broker) == 3)
            try await console.waitForAudit(admin) { records in
                let drops = records.filter { $0["verb"]?.string == "drop" && $0["by"]?.string == "ada" }
                return drops.compactMap { $0["phase"]?.string } == ["after", "before"]
                    && drops.map { $0["outcome"]?.string } == ["done", nil]
            }
        }
    }

    @Test func `A drop without a folder, or with a folder that cannot be written, keeps all dead letters`() async throws
    {
        try await run("kept", "role_max: admin, export_folder: /dev/null/exports") { console, broker in
            let admin = try await console.logIn(.admin)
            try await Self.publish((0..<3).map { QueuedMessages.letter($0, "kept") }, broker)
            let failed = try await console.act(admin, "drop", #"{"where":null}"#, id: Self.first)
            #expect(failed["error"]?.string?.contains("cannot write a file in /dev/null/exports") == true)
            #expect(try await Self.count("kept.dead", broker) == 3)
        }
        try await run("nowhere") { console, _ in
            let refused = try await console.preview(
                try await console.logIn(.admin), "drop", #"{"where":null}"#)
            #expect(refused.status == 400 && refused.code == "no_export_folder", "\(refused.body)")
            #expect(try refused.json["remedy"]?.string?.contains("console.export_folder") == true)
        }
    }

    @Test func `A corrected body replaces a dead letter, and a wrong body is refused with its place`() async throws {
        try await run("edits") { console, broker in
            let session = try await console.logIn(.operate)
            try await Self.publish((0..<3).map { QueuedMessages.letter($0, "edits") }, broker)
            let id = QueuedMessages.id(1)
            func arguments(_ body: String, failedAt: Int64? = nil, original: String? = nil) -> String {
                var json = JSONWriter()
                json.beginObject()
                json.member("id", id)
                json.optional("failed_at", failedAt)
                json.member("body", body)
                json.optional("original", original)
                json.endObject()
                return String(decoding: json.bytes, as: UTF8.self)
            }
            let body = String(decoding: QueuedMessages.body(1), as: UTF8.self)
            let wrong = try await console.preview(
                session, "edit", arguments(body.replacing("\"alert\",", with: "\"shout\",")))
            #expect(wrong.status == 400 && wrong.code == "body", "\(wrong.body)")
            #expect(try wrong.json["problem"]?["reason"]?.string == "schema.enum")
            #expect(try wrong.json["problem"]?["line"]?.int == 1)
            let unknown = try await console.preview(
                session, "edit", arguments(body, failedAt: QueuedMessages.failedAt + 5))
            #expect(unknown.status == 404 && unknown.code == "unknown", "\(unknown.body)")

            let corrected = body.replacing("N° 1", with: "Corrected")
            let other = try await console.preview(session, "edit", arguments(corrected, original: body + " "))
            #expect(other.status == 409 && other.code == "other_body", "\(other.body)")
            let preview = try await console.preview(session, "edit", arguments(corrected, original: body))
            #expect(try preview.json["count"]?.int == 1, "\(preview.body)")
            #expect(
                try preview.json["summary"]?.string == "Sends the corrected dead letter \(id) as a request")
            #expect(try await Self.count("edits.dead", broker) == 3)
            #expect(try await console.begin(session, "edit", preview, id: Self.first).status == 201)
            let ended = try await console.end(session, Self.first)
            #expect(ended["result"]?.string == "sent to edits.requests", "\(ended["error"]?.string ?? "")")
            #expect(ended["ids"]?.list.compactMap(\.string) == [id])
            let sent = try await BrokerClients.consume(1, from: "edits.requests", at: broker.url)
            #expect(sent.map { String(decoding: $0.body, as: UTF8.self) } == [corrected])
            let kept = try await BrokerClients.consume(2, from: "edits.dead", at: broker.url)
            #expect(kept.compactMap(\.properties.messageID) == [0, 2].map(QueuedMessages.id))
        }
    }

    @Test func `Of several dead letters with one id, the time of the failure chooses one`() async throws {
        try await run("twice") { console, broker in
            let session = try await console.logIn(.operate)
            let times = [QueuedMessages.failedAt, QueuedMessages.failedAt + 60_000]
            try await Self.publish(times.map { QueuedMessages.letter(7, "twice", failedAt: $0) }, broker)
            let body = String(decoding: QueuedMessages.body(8), as: UTF8.self).replacing("\"", with: "\\\"")
            let ambiguous = try await console.preview(
                session, "edit", #"{"id":"\#(QueuedMessages.id(7))","failed_at":null,"body":"\#(body)"}"#)
            #expect(ambiguous.status == 409 && ambiguous.code == "ambiguous", "\(ambiguous.body)")
            #expect(try ambiguous.json["failed_at"]?.list.compactMap(\.int64) == times)
            let done = try await console.act(
                session, "edit", #"{"id":"\#(QueuedMessages.id(7))","failed_at":\#(times[1]),"body":"\#(body)"}"#,
                id: Self.second)
            #expect(done["result"]?.string == "sent to twice.requests", "\(done["error"]?.string ?? "")")
            let kept = try await BrokerClients.consume(1, from: "twice.dead", at: broker.url)
            #expect(kept.first?.properties.headers?["push-failed-at"]?.integerValue == times[0])
        }
    }
}
