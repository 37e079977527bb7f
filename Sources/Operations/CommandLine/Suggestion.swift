/// "Did you mean …?" for options, commands and configuration keys.
enum Suggestion {
    /// The known word nearest to what was written, or nil when none is near enough to be what was meant.
    static func nearest(to word: String, among known: [String]) -> String? {
        guard word.utf8.count <= wordBytesMax else { return nil }
        let written = Array(word.lowercased().unicodeScalars)
        let limit = max(1, written.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in known where candidate.utf8.count <= wordBytesMax {
            let distance = editDistance(written, Array(candidate.lowercased().unicodeScalars))
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.word
    }

    /// Longer words are not compared: the distance takes time by the product of the lengths.
    private static let wordBytesMax = 128

    /// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other
    /// (Damerau's distance, restricted to swaps of letters that stay next to each other).
    static func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            row.reserveCapacity(b.count + 1)
            for j in b.indices {
                var cost = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
