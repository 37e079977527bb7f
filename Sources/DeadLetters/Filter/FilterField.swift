import Text

/// What a filter can ask of a dead letter.
package enum FilterField: Equatable, Sendable {
    case known(Known)
    case header(String)
    /// Names and indices from the body's root on.
    case body([Step])

    package enum Step: Equatable, Sendable {
        case name(String)
        case index(Int)
    }

    package enum Known: String, CaseIterable, Sendable {
        case id, `class`, code, app, schema, outcome, reason, path, queue, token, status, attempts, bytes, age
        case failedAt = "failed_at"

        package var kind: Kind {
            switch self {
            case .id, .class, .code, .app, .schema, .outcome, .reason, .path, .queue, .token: .text
            case .status, .attempts, .bytes, .failedAt: .number
            case .age: .duration
            }
        }
    }

    /// What the values of a field are.
    package enum Kind: Equatable, Sendable {
        case text, number, duration

        package var noun: String {
            switch self {
            case .text: "a text, as in \"apns\""
            case .number: "a number"
            case .duration: "a duration, as in 90s or 2h"
            }
        }
    }

    /// nil: whatever is in the message.
    package var kind: Kind? {
        if case .known(let field) = self { field.kind } else { nil }
    }

    /// An unknown name's error, with what was probably meant.
    package static func unknown(_ name: String, at offset: Int) -> FilterError {
        let names = Known.allCases.map(\.rawValue) + ["body", "header"]
        let hint =
            Suggestion.nearest(to: name, among: names).map { "; did you mean \($0)?" }
            ?? "; there are \(names.joined(separator: ", "))"
        return FilterError(offset: offset, message: "there is no field '\(name.shortened(to: 40))'\(hint)")
    }
}
