/// The machine-dependent default of an option, for command lines that omit the option.
package enum OptionDefault: Equatable, Sendable {
    case value(String)
    /// A default that exists but cannot be read. The parser refuses the command line unless the option is advisory.
    case unreadable(problem: String, remedy: String)
}
