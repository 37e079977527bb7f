import CommandKit
import Glibc
import Text

/// The operator and the reason of a pause, as the command states them. A worker cannot verify them.
struct PauseNote: Sendable, Hashable {
    static let words = ["by", "reason"]
    /// Longer texts are cut.
    private static let charactersMax = 200

    var by: String?
    var reason: String?

    init(by: String? = nil, reason: String? = nil) {
        self.by = by.map { $0.printable.shortened(to: Self.charactersMax) }
        self.reason = reason.map { $0.printable.shortened(to: Self.charactersMax) }
    }

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
    var target: String
    var note: PauseNote
    var seconds: Int

    /// `paused by ana: key rotation, 3m 2s ago`.
    var text: String {
        "paused \(note.text.map { "\($0), " } ?? "")\(StatusTable.duration(seconds)) ago"
    }
}
