/// A script for bash's programmable completion (bash 4.4 or later).
struct BashCompletion {
    let commands: [CommandSyntax]

    var script: String {
        """
        # bash completion for martlet \(MartletCommand.version), by: martlet completion bash

        _martlet_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
        _martlet_files() {
          compopt -o filenames 2> /dev/null || :
          mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        }

        _martlet() {
          local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} line
          COMPREPLY=()
          # bash takes --name=value for three words.
          if [[ $cur == '=' ]]; then
            cur=
          elif [[ $before == '=' ]]; then
            before=${COMP_WORDS[COMP_CWORD - 2]}
          fi
          line=" ${COMP_WORDS[*]:1:COMP_CWORD - 1} "
          case $line in
        \(commands.map(block).joined())\(groups)  '  ') _martlet_words '\(firstWords)' ;;
          esac
        }
        complete -F _martlet martlet

        """
    }

    private var firstWords: String {
        (commands.groups.map(\.first) + ["help", "--help", "--version"]).joined(separator: " ")
    }

    /// What follows the first word of a command that has two.
    private var groups: String {
        commands.groups.filter { !$0.second.isEmpty }
            .map { "  ' \($0.first) ') _martlet_words '\($0.second.joined(separator: " "))' ;;\n" }.joined()
            + "  ' help ') _martlet_words '\(commands.groups.map(\.first).joined(separator: " "))' ;;\n"
    }

    private func block(_ command: CommandSyntax) -> String {
        let values = command.options.filter { $0.value != nil }.map { option in
            "        --\(option.name)) \(completer(option.completion)); return ;;\n"
        }
        let options = (command.options.map { "--\($0.name)" } + ["--help"]).joined(separator: " ")
        let operands = command.operands == nil ? ":" : completer(command.operandValues)
        return """
              ' \(command.name) '*)
                case $before in
            \(values.joined())        *) ;;
                esac
                if [[ $cur == -* ]]; then _martlet_words '\(options)'; else \(operands); fi
                if [[ -z $cur && ${#COMPREPLY[@]} == 0 ]]; then _martlet_words '\(options)'; fi
                ;;

            """
    }

    /// A command of the shell that completes `$cur`.
    private func completer(_ values: ValueSyntax) -> String {
        switch values {
        case .text: ":"
        case .files: "_martlet_files"
        case .words(let words): "_martlet_words '\(words.joined(separator: " "))'"
        case .commands: "_martlet_words '\(commands.flatMap(\.path).inOrderOnce.joined(separator: " "))'"
        }
    }
}

extension [String] {
    /// Each once, where it stands first.
    fileprivate var inOrderOnce: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
