import AMQP

/// Why the broker itself gave a message up, as it says in `x-death`
/// (https://www.rabbitmq.com/docs/dlx#effects-on-messages).
struct BrokerDeath {
    /// `rejected`, `expired`, `maxlen`, `delivery_limit`.
    var reason: String?
    var queue: String?
    var unixMilliseconds: Int64?

    /// nil when it did not.
    init?(_ headers: FieldTable) {
        guard case .array(let deaths)? = headers["x-death"], case .table(let death)? = deaths.first else { return nil }
        reason = death["reason"]?.stringValue
        queue = death["queue"]?.stringValue
        if case .timestamp(let seconds)? = death["time"] {
            unixMilliseconds = Int64(exactly: seconds)?.multipliedReportingOverflow(by: 1000).partialValue
        }
    }
}
