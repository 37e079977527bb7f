/// A binding key of a topic exchange: words between dots, where `*` matches one word and `#` any number of words
/// (AMQP 0-9-1, section 3.1.3.3).
public enum BindingKey {
    /// Returns whether a routing key exists that both binding keys match. A message with this key would reach
    /// the destinations of both bindings.
    public static func overlap(_ one: String, _ other: String) -> Bool {
        let one = one.split(separator: ".", omittingEmptySubsequences: false)
        let other = other.split(separator: ".", omittingEmptySubsequences: false)
        // Dynamic programming from the ends: `after[j]` is whether `one[(index + 1)...]` overlaps with `other[j...]`.
        var after = [Bool]()
        for index in stride(from: one.count, through: 0, by: -1) {
            var here = Array(repeating: false, count: other.count + 1)
            for place in stride(from: other.count, through: 0, by: -1) {
                let word = index < one.count ? one[index] : nil
                let match = place < other.count ? other[place] : nil
                here[place] =
                    switch (word, match) {
                    case (nil, nil): true
                    case ("#", _) where after[place] || match != nil && here[place + 1]: true
                    case (_, "#") where here[place + 1] || word != nil && after[place]: true
                    case ("#", _), (_, "#"), (nil, _), (_, nil): false
                    case (let word, let match): (word == "*" || match == "*" || word == match) && after[place + 1]
                    }
            }
            after = here
        }
        return after[0]
    }
}
