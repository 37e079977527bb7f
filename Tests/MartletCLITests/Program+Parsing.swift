import CommandKit
import Testing

extension Program {
    /// Parses the command line of a command.
    ///
    /// - Throws: `UsageError` if the command line is wrong or prints a text; `ExpectationFailedError` if it belongs to
    ///   another command.
    func command<Expected: Command>(
        _ words: [String], defaults: [String: OptionDefault] = [:], as type: Expected.Type = Expected.self
    ) throws -> Expected {
        guard case .command(let command) = try request(words, defaults: defaults) else {
            throw UsageError("\(words) prints a text")
        }
        return try #require(command as? Expected)
    }

    /// Returns the text that a command line prints instead of running a command.
    func text(_ words: [String]) throws -> String {
        guard case .text(let text) = try request(words) else { throw UsageError("\(words) runs a command") }
        return text
    }
}
