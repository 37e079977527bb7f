import AMQP

extension DeliveryRecord {
    /// The maximum age, since a producer may set any timestamp.
    private static let ageSecondsMax: Int64 = 30 * 86_400
    /// The maximum timestamp of a result: a time in the year 2286.
    private static let timestampSecondsMax: UInt64 = 9_999_999_999

    /// The time since the producer's timestamp, with a resolution of one second. nil without a timestamp, for a
    /// republished request, and for a published child of a request to users.
    var ageNanoseconds: Int? {
        guard attempts.rounds == 0, let published = publishedAtSeconds else { return nil }
        let seconds = receivedAtMilliseconds / 1000 - Int64(clamping: published)
        return Int(min(max(0, seconds), Self.ageSecondsMax)) * 1_000_000_000
    }

    /// The producer's timestamp in UNIX milliseconds; nil without a timestamp. Some client libraries write 0 for a
    /// timestamp that is not set, and some producers write milliseconds. Both have no value either.
    var publishedAtMilliseconds: Int64? {
        guard let seconds = publishedAtSeconds, 1...Self.timestampSecondsMax ~= seconds else { return nil }
        return Int64(seconds) * 1000
    }
}
