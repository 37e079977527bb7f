import APNSProtocol
import Actions
import ControlProtocol
import Crypto
import History
import JSON

/// Answers from the history as JSON. Journals may be forged, so their readers limit the sizes of all texts.
struct HistoryJSON {
    /// The role of the operator that receives the answer.
    let role: OperatorRole

    // MARK: /api/requests

    /// - Parameter emptyNote: the note of a page without requests.
    func page(_ page: HistoryPage, _ gaps: [HistoryGap], emptyNote: String?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.list("requests", page.rows) { json, row in write(row.line, key: row.position, to: &json) }
        json.key("next")
        if let next = page.next { json.string("\(next)") } else { json.null() }
        json.list("gaps", gaps) { json, gap in
            json.beginObject()
            json.member("worker", gap.worker)
            json.member("from", gap.from)
            json.member("until", gap.until)
            json.member("reason", gap.reason.rawValue)
            // The count of missing batches is no count of lines.
            json.optional("lines", gap.reason == .dropped ? gap.count.map(Int64.init) : nil)
            json.endObject()
        }
        json.optional("note", page.rows.isEmpty ? emptyNote : nil)
        json.endObject()
        return json.bytes
    }

    private func write(_ line: RequestLine, key: HistoryPosition, to json: inout JSONWriter) {
        json.beginObject()
        json.member("key", "\(key)")
        json.optional("id", line.id?.description)
        json.optional("app", line.app)
        json.member("at", line.at)
        json.member("outcome", Self.outcome(line))
        json.optional("code", line.code)
        json.optional("device_token", line.deviceToken.map { DeviceToken.shortened($0.utf8) })
        json.optional("worker", line.worker)
        json.endObject()
    }

    private static func outcome(_ line: RequestLine) -> String {
        guard case .result(let result) = line else { return "waiting" }
        return switch result.outcome {
        case "accepted", "expired": result.outcome
        case "rejected": "refused"
        default: "failed"
        }
    }

    // MARK: /api/requests/KEY

    /// - Parameter lines: the lines of one request, not empty.
    func request(_ lines: [RequestLine], key: HistoryPosition) -> [UInt8] {
        let results = lines.filter { if case .result = $0 { true } else { false } }
        guard let newest = (results.isEmpty ? lines : results).max(by: { $0.at < $1.at }) else { return [] }
        var json = JSONWriter()
        json.beginObject()
        json.key("request")
        write(newest, key: key, to: &json)
        json.list("steps", RequestSteps.steps(of: lines)) { json, step in
            json.beginObject()
            json.member("at", step.at)
            json.member("event", step.event.rawValue)
            json.optional("code", step.code)
            json.member("text", step.text)
            json.optional("queue", step.queue)
            json.optional("worker", step.worker)
            json.optional("until", step.until)
            json.optional("rounds", step.rounds.map(Int64.init))
            json.endObject()
        }
        json.key("result")
        if case .result(let result) = newest { write(result, to: &json) } else { json.null() }
        json.endObject()
        return json.bytes
    }

    private func write(_ result: ResultRecord, to json: inout JSONWriter) {
        json.beginObject()
        json.optional("id", result.id?.description)
        json.optional("app", result.app)
        json.optional("device_token", result.deviceToken.map { DeviceToken.shortened($0.utf8) })
        json.optional("user", role == .view ? result.user.map { _ in PayloadMask.mask } : result.user)
        json.member("outcome", result.outcome)
        json.optional("status", result.status.map(Int64.init))
        json.optional("reason", result.reason)
        json.member("attempts", result.attempts)
        json.member("duplicate", result.isDuplicate)
        json.member("possible_duplicate", result.isPossibleDuplicate)
        json.optional("published_at", result.publishedAt)
        json.optional("received_at", result.receivedAt)
        json.optional("sent_at", result.sentAt)
        json.member("finished_at", result.finishedAt)
        json.optional("queue", result.queue)
        json.optional("push_type", result.pushType)
        json.optional("worker", result.worker)
        json.key("error")
        if let failure = result.failure {
            json.beginObject()
            json.member("class", failure.failureClass)
            json.member("code", failure.code)
            json.optional("path", failure.path)
            json.optional("message", failure.message)
            json.endObject()
        } else {
            json.null()
        }
        json.endObject()
    }

    // MARK: /api/dead, /api/apps

    /// - Parameter inQueue: the number of dead letters in the queue; nil if unknown.
    func groups(_ groups: [DeadLetterGroup], inQueue: Int?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.list("groups", groups) { json, group in
            json.beginObject()
            // A JavaScript number has too few bits.
            json.member("group", "\(group.number)")
            json.member("class", group.cause.failureClass)
            json.member("code", group.cause.code)
            json.optional("app", group.cause.app)
            json.optional("path", group.cause.path)
            json.member("where", group.cause.filter)
            json.member("count", group.count)
            json.member("first_at", group.firstAt)
            json.member("last_at", group.lastAt)
            json.list("hours", group.hours) { $0.int(Int64($1)) }
            json.endObject()
        }
        json.optional("in_queue", inQueue.map(Int64.init))
        json.endObject()
        return json.bytes
    }

    func samples(_ samples: [JournalSample]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.list("samples", samples) { json, sample in
            let mask = PayloadMask(role: role, path: sample.path)
            json.beginObject()
            json.member("at", sample.at)
            json.optional("id", sample.id?.description)
            json.optional("app", sample.app)
            json.member("code", sample.code)
            json.beginObject("headers")
            for header in sample.headers {
                json.key(header.name)
                json.string(mask.header(header))
            }
            json.endObject()
            json.optional("body", mask.body(sample.body))
            json.member("truncated", sample.isTruncated)
            json.endObject()
        }
        json.endObject()
        return json.bytes
    }

    func apps(_ apps: [AppFigures]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.list("apps", apps) { json, app in
            json.beginObject()
            json.member("app", app.app)
            json.member("accepted", app.accepted)
            json.member("refused", app.refused)
            json.member("failed", app.failed)
            json.key("gone_share")
            if let share = app.goneShare { json.double(share) } else { json.null() }
            json.optional("last_accepted_at", app.lastAcceptedAt)
            json.endObject()
        }
        json.endObject()
        return json.bytes
    }
}

extension DeadLetterCause {
    /// The filter of the dead letters with this cause.
    fileprivate var filter: String {
        var conditions = [("class", failureClass), ("code", code)].map { "\($0) == \(ResendAction.quoted($1))" }
        for (name, text) in [("app", app), ("path", path)] {
            conditions.append("\(name) == \(text.map { ResendAction.quoted($0) } ?? "null")")
        }
        return conditions.joined(separator: " && ")
    }
}

extension JSONWriter {
    /// Writes a member with a text, or null.
    mutating func optional(_ name: StaticString, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// Writes a member with a number, or null.
    mutating func optional(_ name: StaticString, _ number: Int64?) {
        key(name)
        if let number { int(number) } else { null() }
    }
}
