import Delivery

/// The `martlet` command: arguments in, exit code out.
public enum MartletCommand {
    public static let version = "0.1.0"

    /// - Parameter arguments: without the program's own name.
    public static func run(_ arguments: [String]) -> ExitCode {
        let invocation: Invocation
        do {
            invocation = try Invocation.parse(arguments)
        } catch {
            Terminal.error.line("martlet: \(error.message.printable) (see \(error.help))")
            return .usage
        }
        switch invocation {
        case .help(let text): Terminal.output.write(text)
        case .version: Terminal.output.line("martlet \(version)")
        case .topologyPrint: Terminal.output.write(TopologyReport.table(Topology()))
        case .worker, .topologyApply, .publish, .watch:
            Terminal.error.line("martlet: this build has no part that talks to a broker")
            return .failed
        }
        return .success
    }
}

extension UsageError {
    fileprivate var help: String { (["martlet", command, "--help"].filter { !$0.isEmpty }).joined(separator: " ") }
}
