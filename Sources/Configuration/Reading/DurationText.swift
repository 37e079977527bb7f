/// Durations as text, such as `30s`, `2m`, `1h` or `7d`.
package enum DurationText {
    private static let factors: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// Returns the number of seconds; nil if the text is no positive duration. A duration that exceeds the range of
    /// `Int` has the maximum number of seconds.
    package static func seconds(_ text: String) -> Int? {
        guard let factor = text.last.flatMap({ factors[$0] }), let number = Int(text.dropLast()), number > 0 else {
            return nil
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? .max : seconds
    }
}
