import AMQP
import JSON
import TestKit

extension SystemFixture {
    /// Starts `martlet dead-letters` with these arguments.
    func deadLetters(_ words: [String]) async throws -> ChildProcess {
        try await ChildProcess(
            [Products.executable("martlet"), "dead-letters"] + words + ["--config", configuration])
    }

    /// Runs `martlet dead-letters --json` with these arguments and returns its JSON output.
    func deadLetters(_ words: String...) async throws -> (exit: ChildExit, lines: [JSONValue], errors: [String]) {
        let child = try await deadLetters(words + ["--json"])
        let exit = try await child.exit()
        return (
            exit, try await child.output.allLines().map { try JSONDocument($0).root }, await child.errors.allLines()
        )
    }
}
