import AMQP
import APNSProtocol
import CommandKit
import DeadLetters
import Delivery
import JSON
import Telemetry
import Text

/// The formats of dead letters: text and JSON. Device tokens are shortened unless `reveals` is set.
enum DeadLetterText {
    /// Columns that a narrow window shortens or omits, in this order.
    private static let economies: [FittedTable.Economy] = [
        ("REASON", 24), ("APP", 12), ("REASON", 0), ("CLASS", 0), ("APP", 0), ("CODE", 16), ("AGE", 0), ("ID", 9),
    ]

    /// Returns a table with one row for each dead letter.
    ///
    /// - Parameter width: columns of the window; nil for no limit.
    static func table(
        _ letters: [DeadLetter], reveals: Bool, nowUnixMilliseconds: Int64, width: Int? = nil
    ) -> String {
        let rows = letters.map { letter in
            [
                shown(letter.id, reveals: reveals), letter.failureClass, letter.code,
                shown(letter.app ?? "-", reveals: reveals),
                letter.ageMilliseconds(at: nowUnixMilliseconds).map(WatchTable.duration) ?? "-",
            ] + (reveals ? [letter.deviceToken ?? "-"] : []) + [shown(letter.reason ?? "-", reveals: reveals)]
        }
        let titles = ["ID", "CLASS", "CODE", "APP", "AGE"] + (reveals ? ["TOKEN"] : []) + ["REASON"]
        let table = FittedTable(titles: titles, fitting: rows, width: width, economies)
        return ([table.header] + rows.map(table.line)).map { $0 + "\n" }.joined()
    }

    /// Returns a table with one row for each group, and a line with the number of messages.
    ///
    /// - Parameter isComplete: whether the scan read the whole queue, or as many messages as the options request.
    static func table(
        _ groups: DeadLetterGroups, of seen: Int, in place: String, _ source: MessageSource = .deadLetters,
        isComplete: Bool = true
    ) -> String {
        let rows = groups.sorted.map { group in
            ["\(group.count)", share(group.count, of: groups.count)]
                + group.values.map { shown($0, reveals: false) }
                + [group.oldestAge, group.newestAge].map { $0.map(WatchTable.duration) ?? "-" }
        }
        let titles = ["COUNT", "SHARE"] + groups.keys.map { $0.rawValue.uppercased() } + ["OLDEST", "NEWEST"]
        let sum =
            groups.count == seen
            ? "\(seen.counted(source.noun)) in \(place)" : "\(groups.count) of \(seen.counted(source.noun)) in \(place)"
        let note = isComplete ? "" : "; the scan is incomplete"
        return (rows.isEmpty ? "" : lines(titles, rows)) + sum.printable + note + "\n"
    }

    private static func lines(_ titles: [String], _ rows: [[String]]) -> String {
        let table = TextTable(titles: titles, fitting: rows.map { $0.map(\.printable) })
        return ([table.header] + rows.map(table.line)).map { $0 + "\n" }.joined()
    }

    private static func share(_ part: Int, of whole: Int) -> String {
        let percent = 100 * part / max(whole, 1)
        return part > 0 && percent == 0 ? "< 1 %" : "\(percent) %"
    }

    static func json(_ groups: DeadLetterGroups) -> [String] {
        groups.sorted.map { group in
            var json = JSONWriter()
            json.beginObject()
            json.member("count", group.count)
            for (key, value) in zip(groups.keys, group.values) {
                json.key(key.rawValue)
                json.string(shown(value, reveals: false))
            }
            if let age = group.oldestAge { json.member("oldest_age_ms", age) }
            if let age = group.newestAge { json.member("newest_age_ms", age) }
            json.endObject()
            return String(decoding: json.bytes, as: UTF8.self)
        }
    }

    static func json(_ letter: DeadLetter, reveals: Bool, nowUnixMilliseconds: Int64) -> String {
        var json = JSONWriter()
        json.beginObject()
        write(letter, reveals: reveals, nowUnixMilliseconds, &json)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(
        _ letter: DeadLetter, reveals: Bool, _ nowUnixMilliseconds: Int64, _ json: inout JSONWriter
    ) {
        func member(_ name: StaticString, _ text: String?) {
            if let text { json.member(name, text) }
        }
        func member(_ name: StaticString, _ number: Int64?) {
            if let number { json.member(name, number) }
        }
        json.member("id", shown(letter.id, reveals: reveals))
        json.member("class", letter.failureClass)
        json.member("code", letter.code)
        member("app", letter.app.map { shown($0, reveals: reveals) })
        member("schema", letter.schema)
        member("outcome", letter.outcome)
        member("status", letter.status)
        member("attempts", letter.attempts)
        member("reason", letter.reason.map { shown($0, reveals: reveals) })
        member("path", letter.path)
        member("queue", letter.queue)
        member("device_token", letter.deviceToken.map { reveals ? $0 : ShortToken($0).description })
        member("failed_at", letter.failedAt)
        member("age_ms", letter.ageMilliseconds(at: nowUnixMilliseconds))
        json.member("body_bytes", letter.bodyBytes)
    }

    /// Returns the main fields, the headers and the body, on several lines.
    static func whole(
        _ letter: DeadLetter, _ copy: RepublishableMessage, reveals: Bool, nowUnixMilliseconds: Int64
    ) -> String {
        let age = letter.ageMilliseconds(at: nowUnixMilliseconds).map { "\(WatchTable.duration($0)) ago" }
        let facts: [(String, String?)] = [
            ("id", letter.id), ("class", letter.failureClass), ("code", letter.code), ("reason", letter.reason),
            ("path", letter.path), ("app", letter.app), ("outcome", letter.outcome),
            ("status", letter.status.map { "\($0)" }), ("attempts", letter.attempts.map { "\($0)" }),
            ("queue", letter.queue), ("failed", age), ("message-id", copy.messageID), ("type", copy.type),
            ("content-type", copy.contentType),
        ]
        let headers = copy.headers.entries.map { (name: $0.name, value: text(of: $0.value)) }
        let width = headers.map(\.name.count).max() ?? 0
        var lines = facts.compactMap { name, value in
            value.map { "\(name.padded(to: 12))  \(shown($0, reveals: reveals).printable)" }
        }
        lines.append("headers")
        lines += headers.map {
            "  \($0.name.printable.padded(to: width))  \(shown($0.value, reveals: reveals).printable)"
        }
        lines.append("body")
        lines += body(copy.body, letter.bodyBytes, reveals: reveals)
        return lines.map { $0 + "\n" }.joined() + "\n"
    }

    private static func body(_ body: [UInt8], _ bytes: Int, reveals: Bool) -> [String] {
        if body.isEmpty, bytes > 0 { return ["\(bytes) bytes, too large to show"] }
        guard let text = String(validating: body, as: UTF8.self) else { return ["\(bytes) bytes, not text"] }
        return shown(text, reveals: reveals).split(separator: "\n", omittingEmptySubsequences: false).map {
            String($0).replacing("\t", with: "    ").replacing("\r", with: "").printable
        }
    }

    private static func text(of value: FieldValue) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .double(let number): "\(number)"
        case .decimal: MessageLine.decimal(value)
        case .timestamp(let seconds): "\(seconds)"
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .table(let table):
            "{" + table.entries.map { "\($0.name): \(text(of: $0.value))" }.joined(separator: ", ") + "}"
        case .array(let values): "[" + values.map(text).joined(separator: ", ") + "]"
        case .void: "-"
        case .unreadable: "?"
        }
    }

    /// Returns all fields and the message as one line of JSON.
    static func wholeJSON(
        _ letter: DeadLetter, _ copy: RepublishableMessage, reveals: Bool, nowUnixMilliseconds: Int64
    ) -> String {
        var copy = copy
        // Shorten the tokens before the body is encoded, because tokens in base64 cannot be found.
        if !reveals { copy.body = DeviceToken.shortened(in: copy.body) }
        var json = JSONWriter()
        json.beginObject()
        write(letter, reveals: reveals, nowUnixMilliseconds, &json)
        json.key("message")
        json.raw(MessageLine.text(of: copy))
        json.endObject()
        return shown(String(decoding: json.bytes, as: UTF8.self), reveals: reveals)
    }

    /// Minimum number of hexadecimal digits of a device token in an operand. Shorter texts are request IDs, such as a
    /// UUID without hyphens.
    private static let tokenDigitsMin = 64

    /// Returns an operand for a command that an operator pastes. Shortens only possible device tokens.
    static func operand(_ text: String) -> String {
        String(decoding: DeviceToken.shortened(in: text.utf8, digitsMin: tokenDigitsMin), as: UTF8.self)
    }

    /// Returns the text. Shortens every possible device token unless `reveals` is set.
    static func shown(_ text: String, reveals: Bool) -> String {
        guard !reveals else { return text }
        return String(decoding: DeviceToken.shortened(in: text.utf8), as: UTF8.self)
    }
}
