import CommandKit
import JSON
import Text

/// One result of a check, with its remedy.
struct DoctorLine: Sendable, Equatable {
    enum State: String, Sendable, CaseIterable {
        case ok
        /// A problem that leaves the exit code at 0.
        case warning
        /// A fault that sets the exit code to 1.
        case failure
        /// A part that could not be checked.
        case unseen
    }

    /// The name of the check, such as `broker`.
    var check: String
    var state: State
    var text: String
    /// The remedy; empty if none is necessary or known.
    var remedy = ""

    static func ok(_ check: String, _ text: String) -> DoctorLine {
        DoctorLine(check: check, state: .ok, text: text)
    }

    static func warning(_ check: String, _ text: String, remedy: String) -> DoctorLine {
        DoctorLine(check: check, state: .warning, text: text, remedy: remedy)
    }

    static func failure(_ check: String, _ text: String, remedy: String) -> DoctorLine {
        DoctorLine(check: check, state: .failure, text: text, remedy: remedy)
    }

    static func unseen(_ check: String, _ text: String, remedy: String = "") -> DoctorLine {
        DoctorLine(check: check, state: .unseen, text: text, remedy: remedy)
    }

    /// Returns the text for operators, with the remedy on the next line.
    func shown(hasColors: Bool) -> String {
        let tint: Tint =
            switch state {
            case .ok: .good
            case .warning, .unseen: .warning
            case .failure: .bad
            }
        let word = tint.applied(to: state.rawValue.padded(to: 8), if: hasColors)
        let line = "\(word) \(check.padded(to: DoctorCheck.nameWidth))  \(text.printable)"
        return remedy.isEmpty
            ? line
            : line + "\n" + String(repeating: " ", count: 11 + DoctorCheck.nameWidth) + "→ \(remedy.printable)"
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("check", check)
        json.member("state", state.rawValue)
        json.member("text", text)
        if !remedy.isEmpty { json.member("remedy", remedy) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
