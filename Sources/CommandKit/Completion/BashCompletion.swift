/// A script for bash's programmable completion.
struct BashCompletion {
    private let program: Program
    private let commands: [CommandSyntax]
    /// Name of the completion function, and prefix of its helper functions.
    private let function: String

    init(program: Program) {
        self.program = program
        commands = program.shownCommands
        function = "_" + program.name.replacing("-", with: "_")
    }

    var script: String {
        """
        # bash completion for \(program.name) \(program.version), by: \(program.completionInvocation(.bash))

        \(function)_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
        \(files("files", "-f"))\(hasFolders ? files("folders", "-d") : "")
        \(function)() {
          local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} line
          COMPREPLY=()
          # bash splits --name=value into three words.
          if [[ $cur == '=' ]]; then
            cur=
          elif [[ $before == '=' ]]; then
            before=${COMP_WORDS[COMP_CWORD - 2]}
          fi
          line=" ${COMP_WORDS[*]:1:COMP_CWORD - 1} "
          case $line in
        \(commands.map(block).joined())\(program.onlyCommand == nil ? firstWords : "")  esac
        }
        complete -F \(function) \(program.name)

        """
    }

    private var hasFolders: Bool { commands.flatMap(\.options).contains { $0.values == .folders } }

    private func files(_ name: String, _ flag: String) -> String {
        """
        \(function)_\(name)() {
          compopt -o filenames 2> /dev/null || :
          mapfile -t COMPREPLY < <(compgen \(flag) -- "$cur")
        }

        """
    }

    /// Cases for the second word of a command, the topic of `help`, values of program options, and the first word.
    private var firstWords: String {
        let groups = commands.groups
        let words = groups.map(\.first) + ["help"] + program.standardOptions.map(\.flag)
        let second = groups.filter { !$0.second.isEmpty }
            .map { "  ' \($0.first) ') \(function)_words '\($0.second.joined(separator: " "))' ;;\n" }
        let values = program.standardOptions.filter { $0.value != nil }
            .map { "  ' \($0.flag) '*) \(completer($0.values)) ;;\n" }
        return second.joined() + "  ' help ') \(function)_words '\(groups.map(\.first).joined(separator: " "))' ;;\n"
            + values.joined() + "  '  ') \(function)_words '\(words.joined(separator: " "))' ;;\n"
    }

    private func block(_ command: CommandSyntax) -> String {
        let shown = program.sections(of: command, helpOfHelp: program.helpOfHelp).flatMap(\.options)
        let values = shown.filter { $0.value != nil }.map { option in
            "        \(option.flag)) \(completer(option.values)); return ;;\n"
        }
        let options = shown.map(\.flag).joined(separator: " ")
        let operands = command.operands == nil ? ":" : completer(command.operandValues)
        let pattern = command.path.isEmpty ? "*" : "' \(command.name) '*"
        return """
              \(pattern))
                case $before in
            \(values.joined())        *) ;;
                esac
                if [[ $cur == -* ]]; then \(function)_words '\(options)'; else \(operands); fi
                if [[ -z $cur && ${#COMPREPLY[@]} == 0 ]]; then \(function)_words '\(options)'; fi
                ;;

            """
    }

    /// Returns a shell command that completes `$cur`.
    private func completer(_ values: ValueSyntax) -> String {
        switch values {
        case .text: ":"
        case .files: "\(function)_files"
        case .folders: "\(function)_folders"
        case .words(let words): "\(function)_words '\(words.joined(separator: " "))'"
        case .commands: "\(function)_words '\(commands.words.joined(separator: " "))'"
        }
    }
}
