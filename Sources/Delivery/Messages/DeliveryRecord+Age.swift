import AMQP

extension DeliveryRecord {
    /// The maximum age, since a producer may set any timestamp.
    private static let ageSecondsMax: Int64 = 30 * 86_400

    /// The time since the producer's timestamp, with a resolution of one second. nil without a timestamp, for a
    /// republished request, and for a child of a request to users.
    var ageNanoseconds: Int? {
        guard attempts.rounds == 0, let published = delivery.properties.timestampSeconds else { return nil }
        let seconds = receivedAtMilliseconds / 1000 - Int64(clamping: published)
        return Int(min(max(0, seconds), Self.ageSecondsMax)) * 1_000_000_000
    }
}
