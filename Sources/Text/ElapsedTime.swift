/// Human-readable elapsed times.
public enum ElapsedTime {
    /// Returns a text such as `45s`, `3m 20s`, `2h 5m` or `4d 1h`.
    public static func text(seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m \(seconds % 60)s"
        case ..<86_400: "\(seconds / 3600)h \(seconds % 3600 / 60)m"
        default: "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
        }
    }
}
