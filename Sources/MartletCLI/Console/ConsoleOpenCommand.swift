import CommandKit
import Configuration
import ControlProtocol
import HTTPClient
import JSON
import Text

/// The command that requests a login code from a console on this machine.
struct ConsoleOpenCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["console", "open"],
        summary: "Print the address of a running console with a login code.",
        discussion: """
            The code is valid once, for 60 seconds. Run the command as the user of the console, for example with sudo -u
            martlet-console. Over SSH, forward the port first: ssh -L 9790:127.0.0.1:9790 HOST.
            """,
        options: [
            .config(),
            OptionSyntax(
                name: "role", value: "ROLE", help: "view, operate or admin (default: view)",
                values: .words(OperatorRole.allCases.map(\.rawValue))),
            .operatorName(default: "the user, or SUDO_USER"),
            OptionSyntax(
                name: "socket", value: "PATH",
                help: "control socket of the console (default: console.socket, or search)",
                replacedDefault: "config"),
        ])

    let configPath: String?
    let socketPath: String?
    let role: OperatorRole
    let name: String

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.options["config"]
        socketPath = parsed.options["socket"]
        role = parsed.word("role") ?? .view
        name = try parsed.operatorName() ?? PauseNote.operatorName
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        var configured: String?
        if socketPath == nil, let configPath { configured = try ConfigurationFile(configPath).consoleSocket() }
        let paths = (socketPath ?? configured).map { [$0] } ?? ControlSocket.consolePaths
        let client = HTTPClient()
        for path in paths {
            do {
                let answer = try WorkerAddress.socket(path).request(
                    client, .post, "open", [("role", role.rawValue), ("name", name)])
                guard answer.isSuccess, let url = (try? JSONDocument(answer.body))?.root["url"]?.string else {
                    Terminal.error.line("martlet: \(path): \(answer.workerSentence)".printable)
                    return .failed
                }
                return Terminal.output.line(url) ? .success : .failed
            } catch {
                // The socket of a killed process remains.
                if paths.count > 1, error.code == .cannotConnect { continue }
                Terminal.error.line("martlet: \(error.message)".printable)
                return .unreachable
            }
        }
        Terminal.error.line("martlet: no console of this user found on this machine; pass --socket PATH")
        return .unreachable
    }
}
