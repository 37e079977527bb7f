/// The major and minor version of RabbitMQ, on which parts of a topology depend.
public struct BrokerVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    public let major: Int
    public let minor: Int

    public init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Parses a version such as `4.0`, `3.10.8` or `4.3.0-rc.1`. Returns nil if one of the first two parts is missing
    /// or not a nonnegative integer.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, let major = Int(parts[0]), let minor = Int(parts[1]), major >= 0, minor >= 0 else {
            return nil
        }
        self.init(major, minor)
    }

    /// Whether quorum queues, by default, drop or dead-letter a message that was requeued more than 20 times
    /// (https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling).
    public var limitsDeliveries: Bool { self >= BrokerVersion(4, 0) }

    public static func < (left: BrokerVersion, right: BrokerVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    public var description: String { "\(major).\(minor)" }
}
