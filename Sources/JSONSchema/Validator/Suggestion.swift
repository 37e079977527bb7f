/// What somebody probably meant.
public enum Suggestion {
    /// Characters of a name that are compared at all.
    static let lengthMax = 64
    /// Bytes of a value that is compared, as it is written.
    static let bytesMax = 256
    /// Candidates that are compared.
    static let candidatesMax = 500

    /// The candidate that takes the fewest slips to become `name`; nil when none is near enough to be meant.
    public static func nearest(to name: String, among candidates: [String]) -> String? {
        guard name.unicodeScalars.count <= lengthMax else { return nil }
        let slipsMax = max(1, name.unicodeScalars.count / 3)
        let plainName = plain(name)
        var best: (name: String, slips: Int)?
        for candidate in candidates.prefix(candidatesMax).sorted() {
            let plainCandidate = plain(candidate)
            // Each character more or less is a slip.
            guard abs(plainCandidate.count - plainName.count) <= slipsMax else { continue }
            let slips = slips(plainName, plainCandidate)
            if slips <= slipsMax, slips < best?.slips ?? .max { best = (candidate, slips) }
        }
        return best?.name
    }

    /// Characters by which a longer word is known.
    static let abbreviationMin = 3

    /// As `nearest`, of words among which a value has to be: also the only one that begins so, such as `production` for
    /// `prod`.
    public static func meant(by text: String, among words: [String]) -> String? {
        if let nearest = nearest(to: text, among: words) { return nearest }
        let beginning = plain(text)
        guard (abbreviationMin...lengthMax).contains(beginning.count) else { return nil }
        let longer = words.prefix(candidatesMax).filter { plain($0).starts(with: beginning) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// `deviceToken`, `device-token` and `Device_Token` are the same slip.
    private static func plain(_ name: String) -> [Unicode.Scalar] {
        Array(name.lowercased().unicodeScalars.filter { $0 != "_" && $0 != "-" }.prefix(lengthMax))
    }

    /// Insertions, deletions, replacements and swapped neighbours.
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
