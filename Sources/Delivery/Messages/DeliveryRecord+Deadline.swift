import AMQP

/// The AMQP property `expiration` of a request is its time to live in milliseconds. The broker applies it only in the
/// request queue. A worker applies it to the whole life of the request.
extension DeliveryRecord {
    /// The longest time to live that sets a deadline.
    private static let timeToLiveMillisecondsMax: Int64 = 365 * 86_400_000
    /// The rounding error of `timestamp`, which has whole seconds. The request may have been published this much later.
    private static let timestampRoundingMilliseconds: Int64 = 999

    /// The end of the request's time to live, in UNIX milliseconds; nil if its producer set no valid time to live.
    ///
    /// The broker does not report how long the request was queued. The time to live therefore begins with the delivery,
    /// or with the producer's `timestamp` if that is earlier. After the first round, the deadline is in a header that
    /// the first worker wrote.
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

    /// The deadline in UNIX seconds, the unit of APNs. Rounded up, so that a request that arrived in time is pushed.
    var deadlineSeconds: Int64? { deadlineMilliseconds.map { $0 / 1000 + ($0 % 1000 > 0 ? 1 : 0) } }

    /// Appends the deadline for the next delivery of the request, which is republished without the producer's
    /// `expiration`.
    func copyDeadline(to headers: inout FieldTable) {
        guard let deadlineMilliseconds else { return }
        headers.append(MessageHeaderName.expiresAt, .integer(deadlineMilliseconds))
    }
}
