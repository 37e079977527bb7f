import Text

/// Command-line arguments after parsing, still as text.
struct ParsedArguments: Sendable, Equatable {
    var command: String
    /// By option name; a flag has the value "".
    var options: [String: String] = [:]
    /// Those that may be given several times, in order.
    var lists: [String: [String]] = [:]
    var operands: [String] = []
}

/// What is wrong with a command line: one line, and where help is to be had.
struct UsageError: Error, Equatable {
    var message: String
    /// The command whose help explains it; empty: `martlet` itself.
    var command: String = ""
}

/// Turns arguments into a command with options and operands, by a table of what there is.
///
/// `--name value` and `--name=value` are the same, `--` ends the options, `-` alone is an operand.
/// `--help`, `-h` and `--version` win over everything else on the line.
struct ArgumentParser: Sendable {
    enum Result: Equatable {
        /// Help for the command, or for all that begin with that word; empty: for `martlet` itself.
        case help(command: String)
        case version
        case command(ParsedArguments)
    }

    let commands: [CommandSyntax]
    /// Takes the place of a missing `--config`, unless an option excludes it.
    var defaultConfig = DefaultConfiguration.none

    /// Options that say without a configuration what `--config` would say.
    private static let insteadOfConfig: Set = ["url", "prefix", "schema"]

    /// - Parameter arguments: without the program's own name.
    func parse(_ arguments: [String]) throws(UsageError) -> Result {
        let arguments = Self.spelledOut(arguments)
        let beforeTerminator = arguments.prefix { $0 != "--" }
        let command = commands.first { arguments.starts(with: $0.path) }
        if beforeTerminator.contains(where: { $0 == "--help" || $0 == "-h" }) || arguments.first == "help" {
            return .help(command: command?.name ?? helpTopic(arguments))
        }
        if beforeTerminator.contains("--version") { return .version }
        guard let command else { throw unknownCommand(arguments) }
        return .command(try parse(arguments.dropFirst(command.path.count), of: command))
    }

    private func parse(
        _ arguments: ArraySlice<String>, of command: CommandSyntax
    ) throws(UsageError) -> ParsedArguments {
        var parsed = ParsedArguments(command: command.name)
        var rest = arguments
        while let argument = rest.popFirst() {
            if argument == "--" {
                parsed.operands += rest
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                parsed.operands.append(argument)
                continue
            }
            let (spelled, attached) = Self.split(argument)
            guard let option = command.options.first(where: { "--\($0.name)" == spelled }) else {
                throw unknownOption(spelled, of: command)
            }
            let value: String
            if option.value == nil {
                guard attached == nil else {
                    throw UsageError(message: "option \(spelled) takes no value", command: command.name)
                }
                value = ""
            } else {
                guard let given = attached ?? Self.popValue(&rest), !given.isEmpty else {
                    throw UsageError(message: "option \(option.spelling) needs a value", command: command.name)
                }
                value = given
                try check(value, option.completion, of: "option --\(option.name)", command)
            }
            if option.isList {
                parsed.lists[option.name, default: []].append(value)
                continue
            }
            guard parsed.options.updateValue(value, forKey: option.name) == nil else {
                throw UsageError(message: "option \(spelled) is given twice", command: command.name)
            }
        }
        if let option = command.options.first(where: { $0.name == "config" }), parsed.options["config"] == nil,
            Self.insteadOfConfig.isDisjoint(with: parsed.options.keys)
        {
            parsed.options["config"] = try defaultConfig(of: option, command)
        }
        for option in command.options where option.isRequired && parsed.options[option.name] == nil {
            throw UsageError(message: "option \(option.spelling) is missing", command: command.name)
        }
        if let operand = parsed.operands.first, command.operands == nil {
            throw UsageError(message: "unexpected argument '\(operand)'", command: command.name)
        }
        if parsed.operands.isEmpty, command.needsOperand, let operands = command.operands {
            let choice = command.operandValues.words.map { ": \($0.inARow("or"))" } ?? ""
            throw UsageError(message: "\(operands) is missing\(choice)", command: command.name)
        }
        if command.operandValues.words != nil, parsed.operands.count > 1 {
            throw UsageError(message: "unexpected argument '\(parsed.operands[1])'", command: command.name)
        }
        for operand in parsed.operands {
            try check(operand, command.operandValues, of: "martlet \(command.name)", command)
        }
        return parsed
    }

    private func defaultConfig(
        of option: OptionSyntax, _ command: CommandSyntax
    ) throws(UsageError) -> String? {
        if case .file(let path) = defaultConfig { return path }
        guard let problem = defaultConfig.problem, !option.isAdvisory else { return nil }
        throw UsageError(
            message: "\(problem); name another file with --config FILE or \(DefaultConfiguration.variable)",
            command: command.name)
    }

    /// `dead` is short for `dead-letters`.
    private static func spelledOut(_ arguments: [String]) -> [String] {
        let place = arguments.first == "help" ? 1 : 0
        guard place < arguments.count, arguments[place] == "dead" else { return arguments }
        return arguments[..<place] + ["dead-letters"] + arguments[(place + 1)...]
    }

    private func check(
        _ value: String, _ syntax: ValueSyntax, of taker: String, _ command: CommandSyntax
    ) throws(UsageError) {
        guard let words = syntax.words, !words.contains(value) else { return }
        let hint = Suggestion.meant(by: value, among: words).map { "; did you mean \($0)?" } ?? ""
        throw UsageError(message: "\(taker) takes \(words.inARow("or")), not '\(value)'\(hint)", command: command.name)
    }

    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }

    /// The next argument, unless it is an option: `--config --json` is a forgotten file, not one named `--json`.
    private static func popValue(_ rest: inout ArraySlice<String>) -> String? {
        guard let next = rest.first, !next.hasPrefix("--") else { return nil }
        return rest.popFirst()
    }

    private func unknownOption(_ spelled: String, of command: CommandSyntax) -> UsageError {
        let known = command.options.map { "--\($0.name)" } + ["--help", "--version"]
        let hint = Suggestion.nearest(to: spelled, among: known).map { "; did you mean \($0)?" } ?? ""
        return UsageError(message: "unknown option \(spelled)\(hint)", command: command.name)
    }

    private func unknownCommand(_ arguments: [String]) -> UsageError {
        guard let first = arguments.first else { return UsageError(message: "no command is given") }
        if first.hasPrefix("-") {
            let hint = Suggestion.nearest(to: first, among: ["--help", "--version"])
            return UsageError(message: "unknown option \(first)\(hint.map { "; did you mean \($0)?" } ?? "")")
        }
        let group = commands.filter { $0.path.count > 1 && $0.path.first == first }
        guard !group.isEmpty else {
            let hint = Suggestion.nearest(to: first, among: commands.compactMap(\.path.first))
            return UsageError(message: "unknown command '\(first)'\(hint.map { "; did you mean '\($0)'?" } ?? "")")
        }
        let second = group.map { $0.path.dropFirst().joined(separator: " ") }
        let choice = "'\(first)' is followed by one of: \(second.joined(separator: ", "))"
        guard arguments.count > 1, !arguments[1].hasPrefix("-") else { return UsageError(message: choice) }
        let hint = Suggestion.nearest(to: arguments[1], among: second)
        return UsageError(
            message: "unknown command '\(first) \(arguments[1])'"
                + (hint.map { "; did you mean '\(first) \($0)'?" } ?? "; \(choice)"))
    }

    /// `martlet help topology apply`, or `topology` for all that begins so; whatever is no command is helped with the whole.
    private func helpTopic(_ arguments: [String]) -> String {
        let words = Array(arguments.drop { $0 == "help" })
        if let command = commands.first(where: { words.starts(with: $0.path) }) { return command.name }
        let group = commands.first { $0.path.count > 1 && $0.path.first == words.first }
        return group?.path.first ?? ""
    }
}

extension ValueSyntax {
    fileprivate var words: [String]? {
        if case .words(let words) = self { words } else { nil }
    }
}

extension [String] {
    /// `a, b or c`.
    func inARow(_ conjunction: String) -> String {
        guard let last, count > 1 else { return first ?? "" }
        return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }
}
