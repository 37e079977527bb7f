/// The allowed values of an option or operand. Shells complete the values. The parser checks only `words`.
package enum ValueSyntax: Sendable, Equatable {
    case text
    case files
    case folders
    /// One of these words.
    case words([String])
    /// Name of a command, in one or two words.
    case commands

    /// Returns the raw values of an enumeration.
    package static func cases<Word: RawRepresentable<String> & CaseIterable>(of type: Word.Type) -> ValueSyntax {
        .words(type.allCases.map(\.rawValue))
    }

    var words: [String]? {
        if case .words(let words) = self { words } else { nil }
    }
}
