/// Suggestions for misspelled words.
public enum Suggestion {
    /// Maximum length of a compared word, in Unicode scalars.
    static let lengthMax = 64
    /// Maximum size of a compared value, in its source form.
    public static let bytesMax = 256
    /// Maximum number of compared candidates.
    public static let candidatesMax = 500

    /// Returns the candidate with the fewest slips to `name`, among the first ``candidatesMax`` candidates. A slip is a
    /// wrong, missing or additional character, or a swap of neighbors. Case, hyphens and underscores do not count.
    ///
    /// At most a third of the name's characters may be slips. One slip is always allowed. Returns nil if each candidate
    /// has more slips, or if the name is longer than `lengthMax`.
    public static func nearest(to name: String, among candidates: [String]) -> String? {
        guard name.unicodeScalars.count <= lengthMax else { return nil }
        let slipsMax = max(1, name.unicodeScalars.count / 3)
        let plainName = plain(name)
        var best: (name: String, slips: Int)?
        for candidate in candidates.prefix(candidatesMax).sorted() {
            let plainCandidate = plain(candidate)
            // Each additional or missing character is a slip.
            guard abs(plainCandidate.count - plainName.count) <= slipsMax else { continue }
            let slips = slips(plainName, plainCandidate)
            if slips <= slipsMax, slips < best?.slips ?? .max { best = (candidate, slips) }
        }
        return best?.name
    }

    /// Returns a clause such as `; did you mean devices?`; empty if no candidate is near.
    public static func hint(for name: String, among candidates: [String]) -> String {
        nearest(to: name, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }

    /// Minimum length of an abbreviation, in Unicode scalars.
    static let abbreviationMin = 3

    /// Returns the nearest word, or the only word that `text` abbreviates, such as `production` for `prod`; otherwise
    /// nil.
    public static func meant(by text: String, among words: [String]) -> String? {
        if let nearest = nearest(to: text, among: words) { return nearest }
        let beginning = plain(text)
        guard (abbreviationMin...lengthMax).contains(beginning.count) else { return nil }
        let longer = words.prefix(candidatesMax).filter { plain($0).starts(with: beginning) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// Returns the compared form of a name, which is the same for `deviceToken`, `device-token` and `Device_Token`.
    private static func plain(_ name: String) -> [Unicode.Scalar] {
        Array(name.lowercased().unicodeScalars.filter { $0 != "_" && $0 != "-" }.prefix(lengthMax))
    }

    /// Returns the minimum number of insertions, deletions, replacements and swaps of neighbors that change one name
    /// into the other.
    private static func slips(_ from: [Unicode.Scalar], _ to: [Unicode.Scalar]) -> Int {
        var before: [Int] = []
        var previous = Array(0...to.count)
        for row in 0..<from.count {
            var current = [row + 1]
            for column in 0..<to.count {
                var best = min(current[column], previous[column + 1]) + 1
                best = min(best, previous[column] + (from[row] == to[column] ? 0 : 1))
                if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
                    best = min(best, before[column - 1] + 1)
                }
                current.append(best)
            }
            before = previous
            previous = current
        }
        return previous[to.count]
    }
}
