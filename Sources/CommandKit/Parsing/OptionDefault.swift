/// The value of an option that a command line leaves out, where it depends on the machine.
package enum OptionDefault: Equatable, Sendable {
    case value(String)
    /// There is a default, but it cannot be read. The parser refuses the command line, unless the option is advisory.
    case unreadable(problem: String, remedy: String)
}
