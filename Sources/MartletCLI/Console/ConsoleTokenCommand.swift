import CommandKit
import Configuration
import Console
import ControlProtocol
import Glibc
import JSON
import RegistrationTools
import Text

/// The command that creates a personal token for the console.
struct ConsoleTokenCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["console", "token", "create"],
        summary: "Create a personal token for logins to the console, and print it.",
        discussion: """
            Add the SHA-256 hash of the token to console.tokens_file of the configuration, or to the file of --file. The token
            itself is printed once and stored nowhere. The console reads the file at each login. To withdraw a token, remove
            its entry from the file.
            """,
        options: [
            .config(),
            OptionSyntax(
                name: "file", value: "FILE", help: "file of tokens (default: console.tokens_file)",
                replacedDefault: "config"),
            .operatorName(default: nil),
            OptionSyntax(
                name: "role", value: "ROLE", help: "view, operate or admin (default: view)",
                values: .words(OperatorRole.allCases.map(\.rawValue))),
            OptionSyntax(
                name: "expires", value: "DURATION", help: "validity, such as 90d, at most 3650d (default: no end)"),
        ])

    private static let secondsMax: Int64 = 3650 * 86_400

    let configPath: String?
    let file: String?
    let name: String
    let role: OperatorRole
    let expiresSeconds: Int64?

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.options["config"]
        file = parsed.options["file"]
        name = try parsed.operatorName() ?? parsed.required("name")
        role = parsed.word("role") ?? .view
        expiresSeconds = try parsed.options["expires"].map { text throws(UsageError) in
            guard let seconds = DurationText.seconds(text), seconds <= Self.secondsMax else {
                throw UsageError("--expires requires a duration, such as 12h or 90d, of at most 3650d")
            }
            return Int64(seconds)
        }
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        var path = file
        if path == nil, let configPath { path = try ConfigurationFile(configPath).consoleTokensFile() }
        guard let path else {
            Terminal.error.line("martlet: pass --file FILE, or set console.tokens_file in the configuration")
            return .usage
        }
        do {
            let token = try Secret.make()
            try add(token, to: path)
            return Terminal.output.line(token) ? .success : .failed
        } catch let error as NewFile.Failure {
            Terminal.error.line("martlet: cannot write \(path): \(error.reason)".printable)
        } catch let error as InputError {
            Terminal.error.line("martlet: cannot change \(path): \(error.message)".printable)
        } catch {
            Terminal.error.line("martlet: cannot read \(path): \(error)".printable)
        }
        return .failed
    }

    private func add(_ token: String, to path: String) throws {
        var ownership = NewFile.Ownership()
        var tokens = TokenFile()
        var status = stat()
        if stat(path, &status) == 0 {
            ownership = NewFile.Ownership(
                mode: status.st_mode & 0o644, owner: (user: status.st_uid, group: status.st_gid))
            tokens = try TokenFile(json: try FileReader.bytes(of: path, bytesMax: TokenFile.bytesMax))
        } else {
            // The console's user must read the file. A hash reveals nothing of a random token.
            ownership.mode = 0o644
        }
        guard tokens.tokens.count < TokenFile.tokensMax else {
            throw InputError("the file has \(TokenFile.tokensMax) tokens, the maximum; remove one")
        }
        let now = Int64(Glibc.time(nil)) * 1000
        tokens.tokens.append(
            TokenFile.Token(
                name: name, role: role, hash: Secret.hash(token) ?? "", expires: expiresSeconds.map { now + $0 * 1000 })
        )
        try NewFile.replace(path, with: tokens.json, ownership)
    }
}
