/// The time for which a request waits at the broker before it returns to its queue. Messages expire only at the head
/// of a queue, so a long wait would block a short wait. Each delay therefore has its own wait queues.
public struct WaitDelay: Sendable, Hashable, Comparable {
    /// The delay in seconds, from 1 to ``secondsMax``.
    public let seconds: Int

    /// The delay in the largest unit that divides it: `30s`, `2m`, `1h`.
    public let label: String

    /// The longest delay: one day.
    public static let secondsMax = 86_400

    /// The number of wait queues of one delay. The times to live in these queues differ slightly. For a wait without
    /// an exact time, a lane chooses a queue at random. The requests of a burst therefore return at different times.
    public static let siblings = 3
    /// The extra wait of each sibling over the previous one, in percent of the delay.
    private static let siblingStepPercent: Int64 = 12

    public static let defaults = [5, 30, 120, 600, 900, 3600].map { WaitDelay(seconds: $0) }

    /// Creates a delay. Clamps `seconds` to its range.
    public init(seconds: Int) {
        self.seconds = max(1, min(seconds, Self.secondsMax))
        label =
            switch self.seconds {
            case let seconds where seconds % 3600 == 0: "\(seconds / 3600)h"
            case let seconds where seconds % 60 == 0: "\(seconds / 60)m"
            case let seconds: "\(seconds)s"
            }
    }

    /// Returns the time to live in one of the delay's wait queues, in milliseconds. No version may change the value
    /// for a name, because the arguments of an existing queue cannot be changed.
    ///
    /// - Parameter sibling: 0 to `siblings - 1`.
    public func milliseconds(sibling: Int) -> Int64 {
        precondition(0..<Self.siblings ~= sibling, "sibling out of range")
        return Int64(seconds) * 10 * (100 + Self.siblingStepPercent * Int64(sibling))
    }

    public static func < (left: WaitDelay, right: WaitDelay) -> Bool { left.seconds < right.seconds }
}
