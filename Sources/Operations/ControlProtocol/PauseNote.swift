import CommandKit
import Glibc
import JSON
import Text

/// The operator and the reason of a pause, as the command states them. A worker cannot verify them.
struct PauseNote: Sendable, Hashable {
    static let words = ["by", "reason"]
    /// Longer texts are cut.
    private static let charactersMax = 200

    var by: String?
    var reason: String?

    init(by: String? = nil, reason: String? = nil) {
        self.by = by.map(Self.cut)
        self.reason = reason.map(Self.cut)
    }

    fileprivate static func cut(_ text: String) -> String { text.printable.shortened(to: charactersMax) }

    /// The user who runs this process or called `sudo`.
    static var user: String? {
        Environment.nonEmpty("SUDO_USER") ?? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
    }

    var query: [(String, String)] {
        [("by", by), ("reason", reason)].compactMap { name, value in value.map { (name, $0) } }
    }

    /// `by ana: key rotation`. nil: both are unknown.
    var text: String? {
        switch (by, reason) {
        case (let by?, let reason?): "by \(by): \(reason)"
        case (let by?, nil): "by \(by)"
        case (nil, let reason?): "because of \(reason)"
        case (nil, nil): nil
        }
    }
}

/// A pause as `/status` reports it.
struct PauseReport: Sendable, Hashable {
    var target = "-"
    var note = PauseNote()
    var seconds = 0

    static let codec = ObjectCodec(
        "a pause", from: Self(), ignoresUnknown: true,
        [
            .member("target", \.target, .text),
            .optional("by", \.note.by, .note),
            .optional("reason", \.note.reason, .note),
            .member("seconds_paused", \.seconds, .integer),
        ])

    /// `paused by ana: key rotation, 3m 2s ago`.
    var text: String {
        "paused \(note.text.map { "\($0), " } ?? "")\(StatusTable.duration(seconds)) ago"
    }
}

extension ValueCodec<String> {
    fileprivate static var note: Self { text.mapped(read: { PauseNote.cut($0) }, write: { $0 }) }
}
