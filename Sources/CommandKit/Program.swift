import Text

/// A program: its commands, and the facts from which its parser, help, manual pages and completion scripts are made.
package struct Program: Sendable {
    /// The name by which a shell finds it.
    package let name: String
    package let version: String
    /// One line for the manual page, such as `sends push notifications`.
    package let summary: String
    /// The first paragraphs of the help, with an empty line between them; of a program of several commands.
    package let introduction: String
    /// In the order in which help lists them. A program of one command gives it an empty path.
    package let commands: [any Command.Type]
    /// First words of a command line that stand for others: `["dead": "dead-letters"]`.
    package let abbreviations: [String: String]
    /// Variables that the program reads.
    package let environment: [(name: String, help: String)]
    package let exitCodes: [(code: ExitCode, meaning: String)]
    /// The exit status of a wrong command line.
    package let usageCode: ExitCode
    /// Whether the options `--manual` and `--completion` print manual pages and completion scripts; else commands do.
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

    /// What a command line asks for.
    package enum Request {
        /// Help, version, manual page or completion script: a text for standard output.
        case text(String)
        case command(any Command)
    }

    /// Parses and runs a command line. To be called on the main thread, before others are started.
    ///
    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - defaults: by the names of options; see ``OptionDefault``.
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

    /// Returns a page in roff, for man(1).
    ///
    /// - Parameter command: its name; empty: the page of the program itself.
    package func manualPage(of command: String) -> String { ManualPage(program: self).text(for: command) }

    /// Those that help, manual pages and completion scripts show.
    package var shownCommands: [CommandSyntax] { commands.map { $0.syntax }.filter { !$0.isHidden } }

    /// The command of a program that is called without the name of one.
    var onlyCommand: CommandSyntax? { shownCommands.first { $0.path.isEmpty } }

    /// The beginning of a command line.
    ///
    /// - Parameter command: its name; empty: the program itself.
    func invocation(_ command: String) -> String { command.isEmpty ? name : "\(name) \(command)" }
}
