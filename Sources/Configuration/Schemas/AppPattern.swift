/// Bundle IDs by their form: `*` stands for any characters, also for none.
package struct AppPattern: Sendable, Equatable {
    package let text: String

    package init(text: String) {
        self.text = text
    }

    /// How exactly it says which apps it means: the more characters, the more exactly; without `*` it names one.
    var exactness: Int { text.contains("*") ? text.utf8.count(where: { $0 != UInt8(ascii: "*") }) : .max }

    /// Takes time by the product of both lengths at most.
    package func matches(_ bundleID: String) -> Bool {
        let pattern = Array(text.utf8)
        let name = Array(bundleID.utf8)
        var (place, position) = (0, 0)
        /// Behind the last `*`, and what it has taken up to.
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
