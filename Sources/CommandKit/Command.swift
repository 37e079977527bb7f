/// One command of a program. Its syntax, its options and its work belong in one folder.
package protocol Command: Sendable {
    static var syntax: CommandSyntax { get }

    /// - Parameter parsed: arguments that follow ``syntax``.
    /// - Throws: what the syntax does not exclude, such as options that exclude each other.
    init(_ parsed: ParsedArguments) throws(UsageError)

    /// Does the work on the calling thread, which is the main thread, and returns when it is done. Asynchronous work runs
    /// on an event loop of this thread: some commands block signals, which has to precede every other thread.
    func run() -> ExitCode
}
