/// One `--option`, with or without a value.
package struct OptionSyntax: Sendable {
    /// The effect of repeating an option.
    package enum Repetition: Sendable {
        case refused
        /// A repeatable option whose last value counts.
        case lastCounts
        /// A repeatable option whose values are all kept, in order.
        case list
    }

    /// The name without dashes.
    package let name: String
    /// Placeholder for the value in help (`FILE`); nil for a flag.
    package let value: String?
    package let help: String
    package let isRequired: Bool
    /// Whether the command works if the option's default is unreadable. See ``OptionDefault``.
    package let isAdvisory: Bool
    package let repetition: Repetition
    /// The allowed values, which shells complete.
    package let values: ValueSyntax
    /// Name of an option whose default is ignored if this option is given.
    package let replacedDefault: String?
    /// Name of the option that this option requires. Without that option, this option is an error, and its default is
    /// not used; nil for no option.
    package private(set) var requiredOption: String?
    /// Whether help, manual page and completion scripts omit the option.
    package let isHidden: Bool

    /// Creates the syntax of an option.
    ///
    /// - Parameter values: the allowed values; nil for files if the placeholder is `FILE`, otherwise for any text.
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

    /// Returns the option with a required option.
    package func requiring(_ name: String) -> OptionSyntax {
        var option = self
        option.requiredOption = name
        return option
    }

    /// The option in a usage line, such as `--config FILE`.
    package var spelling: String { value.map { "\(flag) \($0)" } ?? flag }
    /// The option's name with dashes, such as `--config`.
    package var flag: String { "--\(name)" }
}
