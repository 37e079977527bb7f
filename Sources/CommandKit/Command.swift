/// A command of a program.
package protocol Command: Sendable {
    static var syntax: CommandSyntax { get }

    /// Creates the command from its arguments.
    ///
    /// - Parameter parsed: the arguments, which match ``syntax``.
    /// - Throws: mistakes that the syntax cannot express, such as mutually exclusive options.
    init(_ parsed: ParsedArguments) throws(UsageError)

    /// Runs the command on the main thread and returns the exit status. Some commands block signals before they start
    /// other threads.
    func run() -> ExitCode
}
