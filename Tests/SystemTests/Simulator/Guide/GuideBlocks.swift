/// A block of commands on a documentation page, with its documented output.
struct GuideBlock {
    var script: String
    /// The documented output; nil if the page documents none.
    var output: String?
    /// The line of the page on which the commands begin, starting at 1.
    var line: Int

    /// Returns the `sh` blocks, each with the `text` block that directly follows it.
    static func all(of page: String) -> [GuideBlock] {
        var blocks: [GuideBlock] = []
        var language: Substring?
        var text: [Substring] = []
        // The line after a block of commands, where an output block would begin.
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

    /// Returns whether printed lines match the documented output, if any. `…` matches any text within a line.
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
