import Text

/// A field of a dead letter that a filter can compare.
package enum FilterField: Equatable, Sendable {
    case known(Known)
    case header(String)
    /// A path of names and indices that begins at the body's root.
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

    /// The type of a field's values.
    package enum Kind: Equatable, Sendable {
        case text, number, duration

        package var noun: String {
            switch self {
            case .text: "a string, such as \"apns\""
            case .number: "a number"
            case .duration: "a duration, such as 90s or 2h"
            }
        }
    }

    /// The type of the field's values; nil for any type.
    package var kind: Kind? {
        if case .known(let field) = self { field.kind } else { nil }
    }

    /// Returns the error for an unknown name, with a suggestion, or with all names if none is similar.
    package static func unknown(_ name: String, at offset: Int) -> FilterError {
        let names = Known.allCases.map(\.rawValue) + ["body", "header"]
        let hint =
            Suggestion.nearest(to: name, among: names).map { "; did you mean \($0)?" }
            ?? " (expected one of: \(names.joined(separator: ", ")))"
        return FilterError(offset: offset, message: "unknown field '\(name.shortened(to: 40))'\(hint)")
    }
}
