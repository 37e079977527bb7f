import AMQP

/// The AMQP property `expiration` of a request: its time to live in milliseconds, which the broker applies to the request
/// queue alone. A worker applies it to the whole life of the request.
extension DeliveryRecord {
    /// A longer time to live sets no deadline.
    private static let timeToLiveMillisecondsMax: Int64 = 365 * 86_400_000
    /// `timestamp` has whole seconds: the request was published up to so much later.
    private static let timestampRoundingMilliseconds: Int64 = 999

    /// When the request's time to live ends, in UNIX milliseconds; nil if its producer set none.
    ///
    /// The broker does not say how long the request was queued. So the time begins with the delivery, or with the producer's
    /// `timestamp` if that is earlier; after a wait it is what the first worker wrote down.
    var deadlineMilliseconds: Int64? {
        let properties = delivery.properties
        guard attempts.rounds == 0 else { return properties.header(MessageHeaderName.expiresAt)?.integerValue }
        guard let text = properties.expiration, let timeToLive = Int64(text),
            0...Self.timeToLiveMillisecondsMax ~= timeToLive
        else { return nil }
        // Some client libraries write 0 for a timestamp that is not set.
        guard let seconds = properties.timestampSeconds.map({ Int64(clamping: $0) }),
            seconds > 0, seconds < receivedAtMilliseconds / 1000
        else { return receivedAtMilliseconds + timeToLive }
        return seconds * 1000 + Self.timestampRoundingMilliseconds + timeToLive
    }

    /// The same in UNIX seconds, as APNs counts: rounded up, so that a request that came in time is pushed.
    var deadlineSeconds: Int64? { deadlineMilliseconds.map { $0 / 1000 + ($0 % 1000 > 0 ? 1 : 0) } }

    /// For the next delivery of the request: the broker removes the property.
    func copyDeadline(to headers: inout FieldTable) {
        guard let deadlineMilliseconds else { return }
        headers.append(MessageHeaderName.expiresAt, .integer(deadlineMilliseconds))
    }
}
