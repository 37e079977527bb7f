/// One delay after which a message is tried again: a queue of its own, so that long waits never block short ones.
public struct RetryBucket: Sendable, Hashable {
    /// At least 1.
    public let delaySeconds: Int

    /// `30s`, `2m`, `1h`: the delay in the largest unit that divides it.
    public let routingKey: String

    public static let `default` = RetryBucket(delaySeconds: 30)

    public init(delaySeconds: Int) {
        self.delaySeconds = max(1, min(delaySeconds, Self.delaySecondsMax))
        routingKey =
            switch self.delaySeconds {
            case let seconds where seconds % 3600 == 0: "\(seconds / 3600)h"
            case let seconds where seconds % 60 == 0: "\(seconds / 60)m"
            case let seconds: "\(seconds)s"
            }
    }

    public var delayMilliseconds: Int64 { Int64(delaySeconds) * 1000 }

    /// A day: what waits longer than that is not a retry.
    public static let delaySecondsMax = 86_400
}
