/// A function for zsh's completion system, to lie as `_martlet` in a folder of `$fpath`.
struct ZshCompletion {
    let commands: [CommandSyntax]

    var script: String {
        """
        #compdef martlet
        # zsh completion for martlet \(MartletCommand.version), by: martlet completion zsh

        _martlet() {
          local curcontext=$curcontext ret=1
          local -a names
          if (( CURRENT == 2 )); then
            names=(\(list(firstWords)))
            _describe -t commands command names && ret=0
            _arguments '--help[\(quoted("help; after a command: on that command"))]' '--version[the version]' && ret=0
            return ret
          fi
          case "${words[2]} ${words[3]}" in
        \(commands.map(block).joined())  esac
          if (( CURRENT == 3 )); then
            case ${words[2]} in
        \(secondWords)    esac
          fi
          return ret
        }

        if [[ $funcstack[1] == _martlet ]]; then _martlet "$@"; else compdef _martlet martlet; fi

        """
    }

    private var firstWords: [(name: String, text: String)] {
        commands.groups.map { group in
            let own = commands.first { $0.path == [group.first] }?.summary
            return (group.first, own ?? group.second.joined(separator: ", "))
        } + [("help", "help; after a command: on that command")]
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

    /// Completes what stands behind the words of the command, which then count as one.
    private func block(_ command: CommandSyntax) -> String {
        let count = command.path.count
        let pattern = count > 1 ? "'\(command.name)'" : "'\(command.name) '*"
        let arguments = command.options.map(argument) + [("--help[this command's help]")] + operands(command)
        return """
              \(pattern))
                if (( CURRENT > \(count + 1) )); then
                  words=("martlet \(command.name)" "${(@)words[\(count + 2),-1]}")
                  (( CURRENT -= \(count) ))
                  _arguments \\
            \(arguments.map { "        '\(quoted($0))'" }.joined(separator: " \\\n")) && ret=0
                  return ret
                fi
                ;;

            """
    }

    private func argument(_ option: OptionSyntax) -> String {
        let text = option.help.replacing("[", with: "\\[").replacing("]", with: "\\]")
        let times = option.isList ? "*" : ""
        guard let value = option.value else { return "\(times)--\(option.name)[\(text)]" }
        return "\(times)--\(option.name)=[\(text)]:\(value.replacing(":", with: "\\:")):\(action(option.completion))"
    }

    private func operands(_ command: CommandSyntax) -> [String] {
        guard let operands = command.operands else { return [] }
        let title = operands.filter { $0 != "[" && $0 != "]" && $0 != "…" }
        let isOne = if case .words = command.operandValues { true } else { false }
        return ["\(isOne ? "1" : "*"):\(title):\(action(command.operandValues))"]
    }

    private func action(_ values: ValueSyntax) -> String {
        switch values {
        case .text: " "
        case .files: "_files"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .commands: "(\(commands.flatMap(\.path).joined(separator: " ")))"
        }
    }

    private func list(_ names: [(name: String, text: String)]) -> String {
        names.map { "'\(quoted("\($0.name):\($0.text)"))'" }.joined(separator: " ")
    }

    /// For single quotes.
    private func quoted(_ text: String) -> String { text.replacing("'", with: "'\\''") }
}
