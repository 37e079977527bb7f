/// The shells that complete command lines of a program.
package enum CompletionShell: String, CaseIterable, Sendable {
    case bash, zsh

    /// Returns a completion script generated from the syntax of the commands. The script does not run the program.
    package func script(for program: Program) -> String {
        switch self {
        case .bash: BashCompletion(program: program).script
        case .zsh: ZshCompletion(program: program).script
        }
    }
}

extension [CommandSyntax] {
    /// The distinct first words, with the second words that may follow.
    var groups: [(first: String, second: [String])] {
        var groups: [(first: String, second: [String])] = []
        for path in map(\.path) where !path.isEmpty {
            let index = groups.firstIndex { $0.first == path[0] }
            if index == nil { groups.append((path[0], [])) }
            if path.count > 1 { groups[index ?? groups.count - 1].second.append(path[1]) }
        }
        return groups
    }

    /// All distinct words of the command names.
    var words: [String] {
        var seen: Set<String> = []
        return flatMap(\.path).filter { seen.insert($0).inserted }
    }
}
