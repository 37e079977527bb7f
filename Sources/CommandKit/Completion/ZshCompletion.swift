/// A completion function of zsh. Its file has the function's name, such as `_martlet`, and belongs in a folder of
/// `$fpath`.
struct ZshCompletion {
    private let program: Program
    private let commands: [CommandSyntax]
    private let function: String

    init(program: Program) {
        self.program = program
        commands = program.shownCommands
        function = "_\(program.name)"
    }

    var script: String {
        """
        #compdef \(program.name)
        # zsh completion for \(program.name) \(program.version), by: \(program.completionInvocation(.zsh))

        \(function)() {
        \(program.onlyCommand.map(arguments) ?? bodyOfCommands)}

        if [[ $funcstack[1] == \(function) ]]; then \(function) "$@"; else compdef \(function) \(program.name); fi

        """
    }

    private func arguments(_ command: CommandSyntax) -> String {
        "  _arguments \\\n\(list(arguments(of: command), indent: 4))\n"
    }

    private var bodyOfCommands: String {
        """
          local curcontext=$curcontext ret=1
          local -a names
          if (( CURRENT == 2 )); then
            names=(\(list(firstWords)))
            _describe -t commands command names && ret=0
            _arguments \(program.standardOptions.map { "'\(quoted(argument($0)))'" }.joined(separator: " ")) && ret=0
            return ret
          fi
          case "${words[2]} ${words[3]}" in
        \(commands.map(block).joined())  esac
          if (( CURRENT == 3 )); then
            case ${words[2]} in
        \(secondWords)    esac
          fi
          return ret

        """
    }

    private var firstWords: [(name: String, text: String)] {
        commands.groups.map { group in
            let own = commands.first { $0.path == [group.first] }?.summary
            return (group.first, own ?? group.second.joined(separator: ", "))
        } + [("help", "print help")]
    }

    private var secondWords: String {
        commands.groups.filter { !$0.second.isEmpty }.map { group in
            let names = commands.filter { $0.path.count > 1 && $0.path[0] == group.first }
                .map { (name: $0.path[1], text: $0.summary) }
            return """
                      \(group.first))
                        names=(\(list(names)))
                        _describe -t commands command names && ret=0
                        ;;

                """
        }.joined()
    }

    /// Returns a case that completes the arguments of a command. In the case, the words of the command count as one
    /// word.
    private func block(_ command: CommandSyntax) -> String {
        let count = command.path.count
        let pattern = count > 1 ? "'\(command.name)'" : "'\(command.name) '*"
        return """
              \(pattern))
                if (( CURRENT > \(count + 1) )); then
                  words=("\(program.invocation(command.name))" "${(@)words[\(count + 2),-1]}")
                  (( CURRENT -= \(count) ))
                  _arguments \\
            \(list(arguments(of: command), indent: 8)) && ret=0
                  return ret
                fi
                ;;

            """
    }

    private func arguments(of command: CommandSyntax) -> [String] {
        let helpOfHelp = command.path.isEmpty ? program.helpOfHelp : "print help"
        return program.sections(of: command, helpOfHelp: helpOfHelp).flatMap(\.options).map(argument)
            + operands(command)
    }

    private func argument(_ option: OptionSyntax) -> String {
        let text = option.help.replacing("[", with: "\\[").replacing("]", with: "\\]")
        let times = option.repetition == .list ? "*" : ""
        guard let value = option.value else { return "\(times)\(option.flag)[\(text)]" }
        return "\(times)\(option.flag)=[\(text)]:\(value.replacing(":", with: "\\:")):\(action(option.values))"
    }

    private func operands(_ command: CommandSyntax) -> [String] {
        guard let operands = command.operands else { return [] }
        let title = operands.filter { $0 != "[" && $0 != "]" && $0 != "…" }
        // A message alone would prevent zsh from completing options.
        let text = "_guard \"^-*\" \(title)"
        let values = command.operandValues == .text ? text : action(command.operandValues)
        return ["\(command.operandValues.words == nil ? "*" : "1"):\(title):\(values)"]
    }

    private func action(_ values: ValueSyntax) -> String {
        switch values {
        case .text: " "
        case .files: "_files"
        case .folders: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .commands: "(\(commands.flatMap(\.path).joined(separator: " ")))"
        }
    }

    private func list(_ names: [(name: String, text: String)]) -> String {
        names.map { "'\(quoted("\($0.name):\($0.text)"))'" }.joined(separator: " ")
    }

    private func list(_ arguments: [String], indent: Int) -> String {
        arguments.map { String(repeating: " ", count: indent) + "'\(quoted($0))'" }.joined(separator: " \\\n")
    }

    /// Escapes text for single quotes.
    private func quoted(_ text: String) -> String { text.replacing("'", with: "'\\''") }
}
