import Text

/// A parser of command lines. The syntax of a program's commands determines the valid arguments.
///
/// `--name value` and `--name=value` are equivalent, `--` ends the options, and a single `-` is an operand. `--help`,
/// `-h` and `--version` before a `--` take precedence over all other arguments.
struct ArgumentParser: Sendable {
    enum Result: Equatable {
        /// Help for a topic: a command, the first word of several commands, or an empty text for the program.
        case help(topic: String)
        case version
        /// The manual page of a command; an empty name means the program.
        case manual(command: String)
        case completion(CompletionShell)
        case command(ParsedArguments)
    }

    private let program: Program
    private let commands: [CommandSyntax]
    /// Default values by option name.
    private let defaults: [String: OptionDefault]

    init(program: Program, defaults: [String: OptionDefault] = [:]) {
        self.program = program
        commands = program.commands.map { $0.syntax }
        self.defaults = defaults
    }

    /// Parses a command line.
    ///
    /// - Parameter arguments: the arguments without the program's name.
    func parse(_ arguments: [String]) throws(UsageError) -> Result {
        let arguments = withoutAbbreviation(arguments)
        let beforeTerminator = arguments.prefix { $0 != "--" }
        let command = commands.first { arguments.starts(with: $0.path) }
        if beforeTerminator.contains(where: { $0 == "--help" || $0 == "-h" }) || requestsHelp(arguments) {
            return .help(topic: command?.name ?? helpTopic(arguments))
        }
        if beforeTerminator.contains("--version") { return .version }
        if program.hasDocumentOptions, beforeTerminator.contains("--manual") {
            return .manual(command: command?.name ?? "")
        }
        if let command { return try result(of: arguments.dropFirst(command.path.count), command) }
        if arguments.first?.hasPrefix("-") == true, let shell = try completionShell(arguments[...]) {
            return .completion(shell)
        }
        throw unknownCommand(arguments)
    }

    private func result(of arguments: ArraySlice<String>, _ command: CommandSyntax) throws(UsageError) -> Result {
        if command.path.isEmpty, let shell = try completionShell(arguments, command.options) {
            return .completion(shell)
        }
        do throws(UsageError) {
            var parsed = try CommandLineReader(command: command.name, options: command.options).read(arguments)
            try applyDefaults(to: &parsed, command)
            try check(parsed, command)
            return .command(parsed)
        } catch {
            throw error.of(command.name)
        }
    }

    /// Returns the shell of `--completion`; nil without this option.
    private func completionShell(
        _ arguments: ArraySlice<String>, _ others: [OptionSyntax] = []
    ) throws(UsageError) -> CompletionShell? {
        let options = others + program.standardOptions
        return try CommandLineReader(command: "", options: options).read(arguments).word("completion")
    }

    private func applyDefaults(to parsed: inout ParsedArguments, _ command: CommandSyntax) throws(UsageError) {
        for option in command.options where !parsed.has(option.name) {
            let isReplaced = command.options.contains { $0.replacedDefault == option.name && parsed.has($0.name) }
            guard !isReplaced, option.requiredOption.map({ parsed.has($0) }) ?? true else { continue }
            switch defaults[option.name] {
            case nil: break
            case .value(let value): parsed.options[option.name] = value
            case .unreadable(let problem, let remedy):
                guard option.isAdvisory else { throw UsageError("\(problem); \(remedy)") }
                parsed.unreadableDefaults[option.name] = problem
            }
        }
    }

    private func check(_ parsed: ParsedArguments, _ command: CommandSyntax) throws(UsageError) {
        for option in command.options where option.isRequired && !parsed.has(option.name) {
            throw UsageError("option \(option.spelling) is missing")
        }
        for option in command.options where parsed.has(option.name) {
            guard let required = option.requiredOption, !parsed.has(required) else { continue }
            throw UsageError("option \(option.flag) requires --\(required)")
        }
        if let operand = parsed.operands.first, command.operands == nil {
            throw UsageError("unexpected argument '\(operand)'")
        }
        if parsed.operands.isEmpty, command.needsOperand, let operands = command.operands {
            let choice = command.operandValues.words.map { ": \($0.enumerated(with: "or"))" } ?? ""
            throw UsageError("\(operands) is missing\(choice)")
        }
        if command.operandValues.words != nil, parsed.operands.count > 1 {
            throw UsageError("unexpected argument '\(parsed.operands[1])'")
        }
        for operand in parsed.operands {
            try command.operandValues.check(operand, of: program.invocation(command.name))
        }
    }

    // MARK: Words before the options

    private func withoutAbbreviation(_ arguments: [String]) -> [String] {
        let place = requestsHelp(arguments) ? 1 : 0
        guard place < arguments.count, let word = program.abbreviations[arguments[place]] else { return arguments }
        return arguments[..<place] + [word] + arguments[(place + 1)...]
    }

    /// Returns whether the program has several commands and the first word is `help`.
    private func requestsHelp(_ arguments: [String]) -> Bool {
        program.onlyCommand == nil && arguments.first == "help"
    }

    /// Returns the topic of `help topology apply`, or of `help topology` for a group. Returns an empty text, which
    /// means the program, for other words.
    private func helpTopic(_ arguments: [String]) -> String {
        let words = Array(arguments.drop { $0 == "help" })
        if let command = commands.first(where: { words.starts(with: $0.path) }) { return command.name }
        let group = commands.first { $0.path.count > 1 && $0.path.first == words.first }
        return group?.path.first ?? ""
    }

    private func unknownCommand(_ arguments: [String]) -> UsageError {
        guard let first = arguments.first else { return UsageError("no command given") }
        if first.hasPrefix("-") { return .unknownOption(first, among: program.standardOptions.map(\.flag)) }
        let shown = program.shownCommands
        let group = shown.filter { $0.path.count > 1 && $0.path.first == first }
        guard !group.isEmpty else {
            let hint = Suggestion.nearest(to: first, among: shown.compactMap(\.path.first))
            return UsageError("unknown command '\(first)'\(hint.map { "; did you mean '\($0)'?" } ?? "")")
        }
        let second = group.map { $0.path.dropFirst().joined(separator: " ") }
        let choice = "'\(first)' requires one of: \(second.joined(separator: ", "))"
        guard arguments.count > 1, !arguments[1].hasPrefix("-") else { return UsageError(choice) }
        let hint = Suggestion.nearest(to: arguments[1], among: second)
        return UsageError(
            "unknown command '\(first) \(arguments[1])'"
                + (hint.map { "; did you mean '\(first) \($0)'?" } ?? "; \(choice)"))
    }
}
