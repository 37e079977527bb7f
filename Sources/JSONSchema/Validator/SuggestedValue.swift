import JSON
import Text

/// The Boolean, or the constant of a schema, that a text probably means.
enum SuggestedValue: Equatable {
    case text(String)
    /// A number or literal, which JSON writes without quotes.
    case bare(String)

    /// Finds the constant of `list` that is most similar to a text. Returns nil if no constant is similar.
    init?(_ text: String, among list: JSONValue) {
        let constants = list.elements.prefix(Suggestion.candidatesMax)
        let bare = constants.lazy.filter { $0.kind != .string }.map { String(decoding: $0.sourceBytes, as: UTF8.self) }
        if let same = bare.first(where: { $0 == text }) {
            self = .bare(same)
        } else if let meant = Suggestion.meant(by: text, among: constants.compactMap(\.string)) {
            self = .text(meant)
        } else {
            return nil
        }
    }

    /// Finds the Boolean that a text probably means. Returns nil for other texts.
    init?(boolean text: String) {
        switch text.lowercased() {
        case "true", "yes", "on", "y": self = .bare("true")
        case "false", "no", "off", "n": self = .bare("false")
        default: return nil
        }
    }

    /// The text without quotes.
    var text: String {
        switch self {
        case .text(let text), .bare(let text): text
        }
    }

    /// The value in JSON.
    var shown: String {
        switch self {
        case .text(let text): "\"\(text)\""
        case .bare(let text): text
        }
    }
}
