/// What somebody who mistyped a word may have meant.
enum Spelling {
    /// Edits that a word may be away from what was meant.
    private static let distanceMax = 3
    /// Longer words are not compared.
    private static let bytesMax = 64

    /// Such as `; did you mean devices?`; empty when no word is near.
    static func suggestion(for word: some StringProtocol, among words: [String]) -> String {
        guard word.utf8.count <= bytesMax else { return "" }
        let near = words.map { (word: $0, distance: distance(Array($0.utf8), Array(word.utf8))) }
            .min { $0.distance < $1.distance }
        // Of a short word no more than half may be wrong.
        guard let near, near.distance <= min(distanceMax, near.word.utf8.count / 2) else { return "" }
        return "; did you mean \(near.word)?"
    }

    /// Insertions, removals and replacements of a byte that make one text of the other.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var previous = row[0]
            row[0] = index + 1
            for column in row.indices.dropFirst() {
                let replaced = previous + (byte == right[column - 1] ? 0 : 1)
                previous = row[column]
                row[column] = min(replaced, row[column] + 1, row[column - 1] + 1)
            }
        }
        return row[right.count]
    }
}
