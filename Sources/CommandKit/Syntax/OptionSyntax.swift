/// One `--option`, with or without a value.
package struct OptionSyntax: Sendable {
    /// What happens if the option is given several times.
    package enum Repetition: Sendable {
        case refused
        /// The last one counts.
        case lastCounts
        /// All are kept, in order.
        case list
    }

    /// Without the dashes.
    package let name: String
    /// A placeholder for the value, as help shows it (`FILE`); nil: a flag.
    package let value: String?
    package let help: String
    package let isRequired: Bool
    /// Whether the command works without a default that cannot be read; see ``OptionDefault``.
    package let isAdvisory: Bool
    package let repetition: Repetition
    /// The values that are allowed; shells complete them.
    package let values: ValueSyntax
    /// The name of an option whose default does not count beside this option.
    package let replacedDefault: String?
    /// Whether help, manual page and completion scripts leave it out.
    package let isHidden: Bool

    /// - Parameter values: nil: files where the placeholder is `FILE`, else any text.
    package init(
        name: String, value: String? = nil, help: String, isRequired: Bool = false, isAdvisory: Bool = false,
        repetition: Repetition = .refused, values: ValueSyntax? = nil, replacedDefault: String? = nil,
        isHidden: Bool = false
    ) {
        self.name = name
        self.value = value
        self.help = help
        self.isRequired = isRequired
        self.isAdvisory = isAdvisory
        self.repetition = repetition
        self.values = values ?? (value == "FILE" ? .files : .text)
        self.replacedDefault = replacedDefault
        self.isHidden = isHidden
    }

    /// As a command line has it: `--config FILE`.
    package var spelling: String { value.map { "\(flag) \($0)" } ?? flag }
    /// `--config`
    package var flag: String { "--\(name)" }
}
