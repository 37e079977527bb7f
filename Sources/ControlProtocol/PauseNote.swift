import Delivery
package import JSON
import Text

/// The operator and reason of a pause, as the command sends them. The worker cannot verify them.
package struct PauseNote: Sendable, Hashable {
    package static let words = ["by", "reason"]
    /// Maximum width of `by` and of `reason` in terminal columns. Longer texts are cut.
    private static let charactersMax = 200

    package var by: String?
    package var reason: String?

    package init(by: String? = nil, reason: String? = nil) {
        self.by = by.map(Self.cut)
        self.reason = reason.map(Self.cut)
    }

    fileprivate static func cut(_ text: String) -> String { text.printable.shortened(to: charactersMax) }

    package var query: [(String, String)] {
        [("by", by), ("reason", reason)].compactMap { name, value in value.map { (name, $0) } }
    }

    /// The note as text, such as `by ana: key rotation`; nil if operator and reason are unknown.
    package var text: String? {
        switch (by, reason) {
        case (let by?, let reason?): "by \(by): \(reason)"
        case (let by?, nil): "by \(by)"
        case (nil, let reason?): "because of \(reason)"
        case (nil, nil): nil
        }
    }
}

/// A pause in the answer of `/status`.
package struct PauseReport: Sendable, Hashable {
    package var target = "-"
    package var note = PauseNote()
    package var seconds = 0
    /// Whether the pause belongs to the fleet instead of this worker.
    package var isOfFleet = false

    package init(target: String = "-", note: PauseNote = PauseNote(), seconds: Int = 0, isOfFleet: Bool = false) {
        self.target = target
        self.note = note
        self.seconds = seconds
        self.isOfFleet = isOfFleet
    }

    /// The command that ends the pause.
    package var remedy: String { PauseScope.remedy(of: target, isOfFleet: isOfFleet) }

    package static let codec = ObjectCodec(
        "a pause", from: Self(), ignoresUnknown: true,
        [
            .member("target", \.target, .text),
            .optional("by", \.note.by, .note),
            .optional("reason", \.note.reason, .note),
            .member("seconds_paused", \.seconds, .integer),
            .member("fleet", \.isOfFleet, .bool, omitting: false),
        ])

    /// The pause as text, such as `paused by ana: key rotation, 3m 2s ago`.
    package var text: String {
        "paused \(note.text.map { "\($0), " } ?? "")\(ElapsedTime.text(seconds: seconds)) ago"
    }
}

extension ValueCodec<String> {
    fileprivate static var note: Self { text.mapped(read: { PauseNote.cut($0) }, write: { $0 }) }
}
