import Configuration
import ControlProtocol

/// The duration of a pause, such as `30m`, `2h` or `7d`.
package enum PauseDuration {
    package static let secondsMax = Int(FleetLimits.pauseMillisecondsMax / 1000)

    /// Returns the number of seconds; nil for a text of another form, and for a duration that no pause may have.
    package static func seconds(_ text: String) -> Int? {
        guard let seconds = DurationText.seconds(text), seconds <= secondsMax else { return nil }
        return seconds
    }
}
