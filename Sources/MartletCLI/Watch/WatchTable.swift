import CommandKit
import Telemetry
import Text

/// The format of results and dead letters as lines of a table.
struct WatchTable {
    private let layout: WatchLayout
    private let hasColors: Bool

    /// Creates the format for a terminal, a pipe or a file.
    ///
    /// - Parameter width: columns of the terminal; nil for a pipe or file, which has no limit.
    init(width: Int?, hasColors: Bool) {
        layout = WatchLayout(width: width)
        self.hasColors = hasColors
    }

    var header: String { Tint.heading.applied(to: layout.table.header, if: hasColors) }

    /// Returns a row. Shortens a possible device token in the id, app and code, unless `revealsTokens` is set.
    func line(_ message: WatchedMessage, nowUnixMilliseconds: Int64, revealsTokens: Bool = false) -> String {
        let cells = layout.columns.map { column in
            let cell = Self.cell(column, message, nowUnixMilliseconds) ?? "-"
            return switch column {
            case .id, .app, .code: DeadLetterText.shown(cell, reveals: revealsTokens)
            case .kind, .outcome, .status, .token, .age: cell
            }
        }
        return message.tint.applied(to: layout.table.line(cells), if: hasColors)
    }

    /// Returns the line, followed by the failure as a sentence on a separate line, if any.
    func text(_ message: WatchedMessage, nowUnixMilliseconds: Int64, revealsTokens: Bool) -> String {
        let line = line(message, nowUnixMilliseconds: nowUnixMilliseconds, revealsTokens: revealsTokens)
        guard let sentence = message.message, !sentence.isEmpty else { return line }
        return "\(line)\n        \(DeadLetterText.shown(sentence, reveals: revealsTokens).printable)"
    }

    private static func cell(
        _ column: WatchLayout.Column, _ message: WatchedMessage, _ nowUnixMilliseconds: Int64
    ) -> String? {
        switch column {
        case .kind: message.kind.word
        case .id: message.id
        case .app: message.app
        case .outcome: message.outcome
        case .status: message.status.map { "\($0)" }
        case .code: message.failure ?? (message.isDuplicate ? "duplicate" : deviceCount(message))
        case .token: message.deviceToken?.description
        case .age: message.ageMilliseconds(at: nowUnixMilliseconds).map(duration)
        }
    }

    /// Returns the number of devices of a report, such as `3 devices`; nil for other messages.
    private static func deviceCount(_ message: WatchedMessage) -> String? {
        guard message.kind == .report else { return nil }
        return message.devices.map { $0.counted("device") }
    }

    /// Returns the duration as text, such as `12 ms`, `3.4 s`, `5 min`, `2 h` or `9 d`.
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

extension WatchedMessage.Kind {
    /// The word in the table.
    fileprivate var word: String {
        switch self {
        case .result: "result"
        case .deadLetter: "dead"
        case .channelReply, .registrationReply: "reply"
        case .registrationEvent: "event"
        case .report: "report"
        }
    }
}
