import JSON
import Telemetry

/// Results and dead letters as lines of a table, or as lines of JSON.
struct WatchTable {
    private let table: TextTable
    private let hasColors: Bool

    /// - Parameter width: of the terminal in characters; ids are cut when it is narrow.
    init(width: Int, hasColors: Bool) {
        self.hasColors = hasColors
        let isNarrow = width < Self.widthOfWholeIDs
        let (id, outcome) = isNarrow ? (9, 20) : (36, 24)
        let rest = width - (11 + id + outcome + 6 + 9 + 8) - 7 * 2
        table = TextTable(columns: [
            .init(title: "", width: 11),
            .init(title: "ID", width: id),
            .init(title: "APP", width: max(8, rest / 2)),
            .init(title: "OUTCOME", width: outcome),
            .init(title: "STATUS", width: 6),
            .init(title: "REASON", width: max(8, rest - rest / 2)),
            .init(title: "TOKEN", width: 9),
            .init(title: "AGE", width: 8),
        ])
    }

    /// Below it, ids are cut.
    private static let widthOfWholeIDs = 130

    var header: String { Tint.heading.applied(to: table.header, if: hasColors) }

    func line(_ message: WatchedMessage, nowUnixMilliseconds: Int64) -> String {
        let cells: [String] = [
            message.kind == .result ? "result" : "dead letter",
            message.id ?? "-",
            message.app ?? "-",
            message.verdict,
            message.status.map { "\($0)" } ?? "-",
            message.explanation,
            message.deviceToken?.description ?? "-",
            message.ageMilliseconds(at: nowUnixMilliseconds).map(Self.duration) ?? "-",
        ]
        return message.tint.applied(to: table.line(cells), if: hasColors)
    }

    static func json(_ message: WatchedMessage, nowUnixMilliseconds: Int64) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("kind", message.kind.rawValue)
        json.member("id", message.id)
        json.member("app", message.app)
        json.member("outcome", message.outcome)
        json.member("class", message.failureClass)
        json.member("code", message.failureCode)
        json.member("message", message.message)
        json.member("status", message.status.map { Int64($0) })
        json.member("reason", message.reason)
        json.member("device_token", message.deviceToken?.description)
        json.member("attempts", message.attempts.map { Int64($0) })
        if message.isDuplicate { json.member("duplicate", true) }
        json.member("body_bytes", message.bodyBytes.map { Int64($0) })
        json.member("age_ms", message.ageMilliseconds(at: nowUnixMilliseconds))
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// `12 ms`, `3.4 s`, `5 min`, `2 h`, `9 d`.
    static func duration(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds) ms"
        case ..<60_000: "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
        case ..<3_600_000: "\(milliseconds / 60_000) min"
        case ..<86_400_000: "\(milliseconds / 3_600_000) h"
        default: "\(milliseconds / 86_400_000) d"
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    fileprivate mutating func member(_ name: StaticString, _ value: Int64?) {
        if let value { member(name, value) }
    }
}
