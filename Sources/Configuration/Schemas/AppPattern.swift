/// A pattern of bundle IDs, in which `*` matches any number of characters.
package struct AppPattern: Sendable, Equatable {
    package let text: String

    package init(text: String) {
        self.text = text
    }

    /// Specificity of the pattern. It is the number of literal bytes, or the largest integer for a pattern without `*`.
    var exactness: Int { text.contains("*") ? text.utf8.count(where: { $0 != UInt8(ascii: "*") }) : .max }

    /// Returns whether the pattern matches the bundle ID. The number of steps is at most proportional to the product of
    /// the lengths of the pattern and the bundle ID.
    package func matches(_ bundleID: String) -> Bool {
        let pattern = Array(text.utf8)
        let name = Array(bundleID.utf8)
        var (place, position) = (0, 0)
        /// Position after the last `*`, and the end of the text that the `*` matches.
        var retry: (place: Int, position: Int)?
        while position < name.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                place += 1
                retry = (place, position)
            } else if place < pattern.count, pattern[place] == name[position] {
                place += 1
                position += 1
            } else if let last = retry {
                retry = (last.place, last.position + 1)
                (place, position) = (last.place, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
