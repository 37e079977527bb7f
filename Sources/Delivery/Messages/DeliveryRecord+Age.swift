import AMQP

extension DeliveryRecord {
    /// Longer ones are told as this: a producer may write any time.
    private static let ageSecondsMax: Int64 = 30 * 86_400

    /// From when its producer says that it was published, in whole seconds; nil when it does not say so, and for what has
    /// been in a wait queue since.
    var ageNanoseconds: Int? {
        guard attempts.rounds == 0, let published = delivery.properties.timestampSeconds else { return nil }
        let seconds = receivedAtMilliseconds / 1000 - Int64(clamping: published)
        return Int(min(max(0, seconds), Self.ageSecondsMax)) * 1_000_000_000
    }
}
