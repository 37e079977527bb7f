import JSON
import Text

/// What was probably meant by a text that is none of a schema's values. All of it is the schema's own.
enum MeantValue: Equatable {
    case text(String)
    /// A number or a word of JSON, as the schema writes it: the text only has quotes too many.
    case bare(String)

    /// By a text where a schema lists what a value may be.
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

    /// By a text where there is to be `true` or `false`.
    init?(boolean text: String) {
        switch text.lowercased() {
        case "true", "yes", "on", "y": self = .bare("true")
        case "false", "no", "off", "n": self = .bare("false")
        default: return nil
        }
    }

    /// Without quotes.
    var text: String {
        switch self {
        case .text(let text), .bare(let text): text
        }
    }

    /// As JSON writes it.
    var shown: String {
        switch self {
        case .text(let text): "\"\(text)\""
        case .bare(let text): text
        }
    }
}
