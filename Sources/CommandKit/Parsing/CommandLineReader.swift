import Text

/// A reader of the arguments after a command: options with their values, and operands.
struct CommandLineReader {
    /// The name of the command; empty for the program.
    let command: String
    /// The valid options.
    let options: [OptionSyntax]

    func read(_ arguments: ArraySlice<String>) throws(UsageError) -> ParsedArguments {
        var parsed = ParsedArguments(command: command)
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
            try readOption(argument, &rest, &parsed)
        }
        return parsed
    }

    private func readOption(
        _ argument: String, _ rest: inout ArraySlice<String>, _ parsed: inout ParsedArguments
    ) throws(UsageError) {
        let (spelled, attached) = Self.split(argument)
        guard let option = options.first(where: { $0.flag == spelled }) else {
            throw .unknownOption(spelled, among: options.filter { !$0.isHidden }.map(\.flag) + ["--help", "--version"])
        }
        let value = try value(of: option, attached, &rest)
        switch option.repetition {
        case .list: parsed.lists[option.name, default: []].append(value)
        case .lastCounts: parsed.options[option.name] = value
        case .refused:
            guard parsed.options.updateValue(value, forKey: option.name) == nil else {
                throw UsageError("option \(spelled) is given twice")
            }
        }
    }

    private func value(
        of option: OptionSyntax, _ attached: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard option.value != nil else {
            guard attached == nil else { throw UsageError("option \(option.flag) accepts no value") }
            return ""
        }
        guard let value = attached ?? Self.popValue(&rest), !value.isEmpty else {
            throw UsageError("option \(option.spelling) needs a value")
        }
        try option.values.check(value, of: "option \(option.flag)")
        return value
    }

    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }

    /// Removes and returns the next argument; nil if no argument follows, or if the argument begins with `--`. In
    /// `--config --json`, the value is missing.
    private static func popValue(_ rest: inout ArraySlice<String>) -> String? {
        guard let next = rest.first, !next.hasPrefix("--") else { return nil }
        return rest.popFirst()
    }
}

extension ValueSyntax {
    /// Checks that the value is one of the allowed words, if the syntax lists words.
    ///
    /// - Parameter subject: the option or command with which the error begins.
    func check(_ value: String, of subject: String) throws(UsageError) {
        guard let words, !words.contains(value) else { return }
        let hint = Suggestion.meant(by: value, among: words).map { "; did you mean \($0)?" } ?? ""
        throw UsageError("\(subject): expected \(words.enumerated(with: "or")), got '\(value)'\(hint)")
    }
}

extension UsageError {
    static func unknownOption(_ spelled: String, among known: [String]) -> UsageError {
        let hint = Suggestion.nearest(to: spelled, among: known).map { "; did you mean \($0)?" } ?? ""
        return UsageError("unknown option \(spelled)\(hint)")
    }
}
