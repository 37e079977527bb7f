import AMQP
import JSON
import TestKit

extension SystemFixture {
    /// Begins `martlet dead-letters …`.
    func deadLetters(_ words: [String]) async throws -> ChildProcess {
        try await ChildProcess(
            [Products.executable("martlet"), "dead-letters"] + words + ["--config", configuration])
    }

    /// Runs it to its end: what it printed, which is JSON with `--json`.
    func deadLetters(_ words: String...) async throws -> (exit: ChildExit, lines: [JSONValue], errors: [String]) {
        let child = try await deadLetters(words + ["--json"])
        let exit = try await child.exit()
        return (
            exit, try await child.output.allLines().map { try JSONDocument($0).root }, await child.errors.allLines()
        )
    }
}
