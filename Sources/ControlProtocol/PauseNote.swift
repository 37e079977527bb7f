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
    /// The end of the pause, in UNIX milliseconds; nil for a pause without a planned end.
    package var until: Int64?
    /// The time until the end, in seconds of the worker's clock.
    package var secondsLeft: Int?

    package init(
        target: String = "-", note: PauseNote = PauseNote(), seconds: Int = 0, isOfFleet: Bool = false,
        until: Int64? = nil, secondsLeft: Int? = nil
    ) {
        self.target = target
        self.note = note
        self.seconds = seconds
        self.isOfFleet = isOfFleet
        self.until = until
        self.secondsLeft = secondsLeft
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
            .optional("until", \.until, .int(FleetLimits.times)),
            .optional("seconds_left", \.secondsLeft, .integer),
        ])

    /// The pause as text, such as `paused by ana: key rotation, 3m 2s ago`.
    package var text: String {
        "paused \(note.text.map { "\($0), " } ?? "")\(ElapsedTime.text(seconds: seconds)) ago\(end.map { ", \($0)" } ?? "")"
    }

    /// The end of the pause as text, such as `ends in 1h 56m`; nil for a pause without a planned end.
    package var end: String? { secondsLeft.map { "ends in \(ElapsedTime.text(seconds: max(0, $0)))" } }
}

extension ValueCodec<String> {
    fileprivate static var note: Self { text.mapped(read: { PauseNote.cut($0) }, write: { $0 }) }
}
