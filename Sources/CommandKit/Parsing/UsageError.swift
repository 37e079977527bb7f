/// A mistake in a command line, in one line.
package struct UsageError: Error, Equatable {
    package let message: String
    /// The name of the command whose help explains it; empty: that of the program.
    package private(set) var command = ""

    package init(_ message: String) { self.message = message }

    func of(_ command: String) -> UsageError {
        var error = self
        error.command = command
        return error
    }
}
