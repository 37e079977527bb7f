/// A command of a program. Its syntax, options and implementation belong in one folder.
package protocol Command: Sendable {
    static var syntax: CommandSyntax { get }

    /// Creates the command from its arguments.
    ///
    /// - Parameter parsed: the arguments, which match ``syntax``.
    /// - Throws: mistakes that the syntax cannot express, such as mutually exclusive options.
    init(_ parsed: ParsedArguments) throws(UsageError)

    /// Runs the command on the main thread and returns its exit status. Asynchronous work runs on an event loop of
    /// this thread, because some commands block signals before other threads start.
    func run() -> ExitCode
}
