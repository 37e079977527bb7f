import CommandKit
import Delivery
import EventLoop
import Glibc
import Text

/// Who paused and why, as the operator's command says; no worker can verify it.
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

    /// The user that runs this process, or that called `sudo`.
    static var user: String? {
        Environment.nonEmpty("SUDO_USER") ?? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
    }

    var query: [(String, String)] {
        [("by", by), ("reason", reason)].compactMap { name, value in value.map { (name, $0) } }
    }

    /// `by ana: key rotation`; nil when neither is known.
    var text: String? {
        switch (by, reason) {
        case (let by?, let reason?): "by \(by): \(reason)"
        case (let by?, nil): "by \(by)"
        case (nil, let reason?): "because of \(reason)"
        case (nil, nil): nil
        }
    }
}

/// One pause of a worker.
struct Pause: Sendable {
    var scope: PauseScope
    var note: PauseNote
    var since: MonotonicTime

    func report(at now: MonotonicTime) -> PauseReport {
        PauseReport(target: scope.description, note: note, seconds: Int(since.duration(to: now).components.seconds))
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
