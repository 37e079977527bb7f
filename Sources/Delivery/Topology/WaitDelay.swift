/// How long a message waits at the broker before it comes back: queues of their own, so that long waits never block
/// short ones, since messages leave a queue at its head alone.
public struct WaitDelay: Sendable, Hashable, Comparable {
    /// 1 to ``secondsMax``.
    public let seconds: Int

    /// `30s`, `2m`, `1h`: the delay in the largest unit that divides it.
    public let label: String

    /// A day: what waits longer than that is no longer news.
    public static let secondsMax = 86_400

    /// Queues of one delay, a little apart: among them one is drawn, so that a burst does not come back as a burst.
    public static let siblings = 3
    /// How much longer each sibling waits than the one before it, in hundredths of the delay.
    private static let siblingStepPercent: Int64 = 12

    public static let defaults = [5, 30, 120, 600, 900, 3600].map { WaitDelay(seconds: $0) }

    /// What is out of range is taken for the nearest in range.
    public init(seconds: Int) {
        self.seconds = max(1, min(seconds, Self.secondsMax))
        label =
            switch self.seconds {
            case let seconds where seconds % 3600 == 0: "\(seconds / 3600)h"
            case let seconds where seconds % 60 == 0: "\(seconds / 60)m"
            case let seconds: "\(seconds)s"
            }
    }

    /// Time to live in a sibling's queue. It follows from the queue's name for ever: no version may change it, since the
    /// arguments of a queue that exists cannot be changed.
    ///
    /// - Parameter sibling: 0 to `siblings - 1`.
    public func milliseconds(sibling: Int) -> Int64 {
        precondition(0..<Self.siblings ~= sibling, "no such sibling")
        return Int64(seconds) * 10 * (100 + Self.siblingStepPercent * Int64(sibling))
    }

    public static func < (left: WaitDelay, right: WaitDelay) -> Bool { left.seconds < right.seconds }
}
