/// The commands of a page of the documentation, with what the page says that they print.
struct GuideBlock {
    var script: String
    /// nil where the page does not say.
    var output: String?
    /// Line of the page on which the commands begin, counted from 1.
    var line: Int

    /// The blocks marked `sh`, each with the block marked `text` that follows it at once.
    static func all(of page: String) -> [GuideBlock] {
        var blocks: [GuideBlock] = []
        var language: Substring?
        var text: [Substring] = []
        // The line behind a block of commands, where its output would stand.
        var outputLine: Int?
        for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard line.hasPrefix("```") else {
                text.append(line)
                continue
            }
            if let ended = language {
                if ended == "sh" {
                    blocks.append(
                        GuideBlock(
                            script: text.joined(separator: "\n"), output: nil, line: index + 1 - text.count))
                    outputLine = index + 1
                } else if ended == "text", outputLine == index - text.count - 1, !blocks.isEmpty {
                    blocks[blocks.count - 1].output = text.joined(separator: "\n")
                }
                language = nil
            } else {
                language = line.dropFirst(3)
                text = []
            }
        }
        return blocks
    }

    /// Whether it printed what the page says, where `…` stands for anything within a line.
    func matches(_ printed: [String]) -> Bool {
        guard let output else { return true }
        let wanted = output.split(separator: "\n", omittingEmptySubsequences: false)
        return wanted.count == printed.count && zip(wanted, printed).allSatisfy { Self.matches($0, $1[...]) }
    }

    private static func matches(_ pattern: Substring, _ text: Substring) -> Bool {
        let pieces = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard pieces.count > 1, let first = pieces.first, let last = pieces.last else { return pattern == text }
        guard text.hasPrefix(first) else { return false }
        var rest = text.dropFirst(first.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let range = rest.firstRange(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
