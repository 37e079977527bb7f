/// A mistake in a command line, as one line of text.
package struct UsageError: Error, Equatable {
    package let message: String
    /// Name of the command whose help applies; empty for the program.
    package private(set) var command = ""

    package init(_ message: String) { self.message = message }

    func of(_ command: String) -> UsageError {
        var error = self
        error.command = command
        return error
    }
}
