/// The shells that complete `martlet`.
enum CompletionShell: String, CaseIterable, Sendable {
    case bash, zsh

    /// Made from the same table as help; it does not run `martlet`.
    func script(for commands: [CommandSyntax]) -> String {
        switch self {
        case .bash: BashCompletion(commands: commands).script
        case .zsh: ZshCompletion(commands: commands).script
        }
    }
}

extension [CommandSyntax] {
    /// The first words, each once, with the second words that may follow.
    var groups: [(first: String, second: [String])] {
        var groups: [(first: String, second: [String])] = []
        for path in map(\.path) {
            let index = groups.firstIndex { $0.first == path[0] }
            if index == nil { groups.append((path[0], [])) }
            if path.count > 1 { groups[index ?? groups.count - 1].second.append(path[1]) }
        }
        return groups
    }
}
