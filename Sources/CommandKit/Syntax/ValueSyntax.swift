/// The values that an option or an operand may have. Shells complete them; the parser refuses other words.
package enum ValueSyntax: Sendable, Equatable {
    case text
    case files
    case folders
    /// One of these.
    case words([String])
    /// The name of a command, in one or two words.
    case commands

    /// The raw values of an enumeration.
    package static func cases<Word: RawRepresentable<String> & CaseIterable>(of type: Word.Type) -> ValueSyntax {
        .words(type.allCases.map(\.rawValue))
    }

    var words: [String]? {
        if case .words(let words) = self { words } else { nil }
    }
}

extension [String] {
    /// `a, b or c`.
    ///
    /// - Parameter conjunction: the word before the last one.
    package func enumerated(with conjunction: String) -> String {
        guard let last, count > 1 else { return first ?? "" }
        return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }
}
