import TestKit

/// A program of the documentation page with examples for producers.
struct ExampleProgram: Sendable, CustomStringConvertible {
    private static let page = "Sources/Documentation/Producers/Examples.md"
    private static let interpreters = ["py": ["python3"], "go": ["go", "run"], "php": ["php"], "rb": ["ruby"]]

    /// The file name that precedes the program on the page.
    let name: String
    let text: String

    var description: String { name }

    static func pageText() throws -> String {
        String(decoding: try Files.bytes(of: Products.file(page)), as: UTF8.self)
    }

    /// Returns the page's programs, in order.
    static func all() throws -> [ExampleProgram] {
        let blocks = try pageText().matches(of: /(?ms)^`(\w+\.\w+)`[^\n]*\n.*?^```(?:python|go|php|ruby)\n(.*?)^```$/)
        return blocks.map { ExampleProgram(name: String($0.1), text: String($0.2)) }
    }

    /// Returns the shell commands of the page that create a broker user.
    static func userCommands() throws -> String {
        guard let block = try pageText().firstMatch(of: /(?s)```sh\n(rabbitmqctl .*?)```/) else {
            throw ProcessError("\(page) creates no user")
        }
        return String(block.1)
    }

    /// Returns the program with other timeouts, in seconds.
    func limited(confirm: Int, result: Int) throws -> ExampleProgram {
        let changed = text.replacing("CONFIRM_SECONDS = 10", with: "CONFIRM_SECONDS = \(confirm)")
            .replacing("RESULT_SECONDS = 30", with: "RESULT_SECONDS = \(result)")
            .replacing("resultTimeout = 30 *", with: "resultTimeout = \(max(confirm, result)) *")
        guard changed != text else { throw ProcessError("\(name) has no timeouts") }
        return ExampleProgram(name: name, text: changed)
    }

    /// Runs the program and returns its exit status, and the lines of its output and errors.
    func run(
        _ device: String, broker url: String, in directory: TemporaryDirectory
    ) async throws -> (status: ChildExit.Status, output: [String], errors: [String]) {
        let suffix = name.split(separator: ".").last.map(String.init) ?? ""
        guard let interpreter = Self.interpreters[suffix] else { throw ProcessError("no interpreter for \(name)") }
        // Only the distribution's interpreters find the distribution's libraries.
        let environment = [
            "PATH": "/usr/bin:/bin", "HOME": directory.path, "AMQP_URL": url, "GO111MODULE": "off",
            "GOPATH": "/usr/share/gocode", "GOCACHE": directory.file("go-cache"), "TMPDIR": directory.path,
        ]
        let result = try await ChildProcess.run(
            ["/usr/bin/env"] + interpreter + [try directory.write(name, text), device], environment: environment)
        return (result.exit.status, result.output, result.errors)
    }
}
