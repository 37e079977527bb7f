import Text

/// A program: its commands, and the texts for help, manual pages and completion scripts.
package struct Program: Sendable {
    /// The name of the executable.
    package let name: String
    package let version: String
    /// One line for the manual page, such as `sends push notifications`.
    package let summary: String
    /// The first paragraphs of the help of a program with several commands, separated by empty lines.
    package let introduction: String
    /// Commands in the order of the help. The only command of a program has an empty path.
    package let commands: [any Command.Type]
    /// Abbreviations of the first word of a command, such as `["dead": "dead-letters"]`.
    package let abbreviations: [String: String]
    /// Environment variables that the program reads.
    package let environment: [(name: String, help: String)]
    package let exitCodes: [(code: ExitCode, meaning: String)]
    /// Exit status for an invalid command line.
    package let usageCode: ExitCode
    /// Whether the options `--manual` and `--completion` print manual pages and completion scripts. Otherwise,
    /// commands print them.
    package var hasDocumentOptions: Bool

    package init(
        name: String, version: String, summary: String, introduction: String = "", commands: [any Command.Type],
        abbreviations: [String: String] = [:], environment: [(name: String, help: String)] = [],
        exitCodes: [(code: ExitCode, meaning: String)], usageCode: ExitCode = .usage, hasDocumentOptions: Bool = false
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.introduction = introduction
        self.commands = commands
        self.abbreviations = abbreviations
        self.environment = environment
        self.exitCodes = exitCodes
        self.usageCode = usageCode
        self.hasDocumentOptions = hasDocumentOptions
    }

    /// The meaning of a command line.
    package enum Request {
        /// Help, version, manual page or completion script to print on standard output.
        case text(String)
        case command(any Command)
    }

    /// Parses and runs a command line. Call this function on the main thread, before other threads start.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - defaults: default values by option name. See ``OptionDefault``.
    package func run(_ arguments: [String], defaults: [String: OptionDefault] = [:]) -> ExitCode {
        do throws(UsageError) {
            switch try request(arguments, defaults: defaults) {
            case .text(let text): return Terminal.output.write(text) ? .success : .failed
            case .command(let command): return command.run()
            }
        } catch {
            let help = invocation(error.command) + " --help"
            Terminal.error.line("\(name): \(error.message.printable) (see \(help))")
            return usageCode
        }
    }

    /// Parses a command line.
    ///
    /// - Parameters: as for ``run(_:defaults:)``.
    package func request(_ arguments: [String], defaults: [String: OptionDefault] = [:]) throws(UsageError) -> Request {
        switch try ArgumentParser(program: self, defaults: defaults).parse(arguments) {
        case .help(let topic): return .text(HelpText(program: self).text(for: topic))
        case .version: return .text("\(name) \(version)\n")
        case .manual(let command): return .text(manualPage(of: command))
        case .completion(let shell): return .text(shell.script(for: self))
        case .command(let parsed): return .command(try command(parsed))
        }
    }

    private func command(_ parsed: ParsedArguments) throws(UsageError) -> any Command {
        guard let command = commands.first(where: { $0.syntax.name == parsed.command }) else {
            throw UsageError("unknown command '\(parsed.command)'")
        }
        do throws(UsageError) {
            return try command.init(parsed)
        } catch {
            throw error.of(parsed.command)
        }
    }

    /// Returns a manual page in roff, for man(1).
    ///
    /// - Parameter command: name of the command; empty for the program.
    package func manualPage(of command: String) -> String { ManualPage(program: self).text(for: command) }

    /// Commands that help, manual pages and completion scripts show.
    package var shownCommands: [CommandSyntax] { commands.map { $0.syntax }.filter { !$0.isHidden } }

    /// The only command of a program without command names; nil for other programs.
    var onlyCommand: CommandSyntax? { shownCommands.first { $0.path.isEmpty } }

    /// Returns the beginning of a command line.
    ///
    /// - Parameter command: name of the command; empty for the program.
    func invocation(_ command: String) -> String { command.isEmpty ? name : "\(name) \(command)" }
}
