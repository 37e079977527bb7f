/// Durations as text, such as `30s`, `2m`, `1h` or `7d`.
package enum DurationText {
    private static let units: [(letter: Character, seconds: Int)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

    /// Returns the number of seconds; nil if the text is no positive duration. A duration that exceeds the range of
    /// `Int` has the maximum number of seconds.
    package static func seconds(_ text: String) -> Int? {
        guard let unit = units.first(where: { $0.letter == text.last }), let number = Int(text.dropLast()), number > 0
        else { return nil }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit.seconds)
        return overflow ? .max : seconds
    }

    /// Returns the shortest text of a duration.
    package static func text(_ seconds: Int) -> String {
        let unit = units.first { seconds.isMultiple(of: $0.seconds) }
        return unit.map { "\(seconds / $0.seconds)\($0.letter)" } ?? "\(seconds)s"
    }
}
