/// What somebody probably meant.
public enum Suggestion {
    /// Characters of a name that are compared at all.
    static let lengthMax = 64
    /// Candidates that are compared.
    static let candidatesMax = 500

    /// The candidate that takes the fewest slips to become `name`; nil when none is near enough to be meant.
    public static func nearest(to name: String, among candidates: [String]) -> String? {
        guard name.unicodeScalars.count <= lengthMax else { return nil }
        let scored = candidates.prefix(candidatesMax).sorted().map { (name: $0, slips: slips(plain(name), plain($0))) }
        guard let best = scored.min(by: { $0.slips < $1.slips }) else { return nil }
        return best.slips <= max(1, name.unicodeScalars.count / 3) ? best.name : nil
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
