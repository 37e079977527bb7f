package import AMQP
import BrokerTopology

/// The last dead-lettering of a message by the broker, from the header `x-death`
/// (https://www.rabbitmq.com/docs/dlx#effects-on-messages). A later rejection in the queue of expired requests does
/// not count.
package struct BrokerDeath {
    /// The reason: `rejected`, `expired`, `maxlen` or `delivery_limit`.
    package var reason: String?
    /// The queue that the message left.
    package var queue: String?
    package var unixMilliseconds: Int64?

    /// Reads the headers of a message; nil if the headers contain no dead-lettering.
    package init?(_ headers: FieldTable) {
        guard case .array(let entries)? = headers["x-death"] else { return nil }
        let deaths = entries.compactMap { if case .table(let death) = $0 { death } else { nil } }
        // The first entry is the last death. RabbitMQ 3.10 reverses the order of the other entries at each death.
        guard let last = deaths.first else { return nil }
        let death = Self.deathBefore(last, deaths.dropFirst()) ?? last
        reason = death["reason"]?.stringValue
        queue = death["queue"]?.stringValue
        if case .timestamp(let seconds)? = death["time"] {
            let (milliseconds, overflows) = seconds.multipliedReportingOverflow(by: 1000)
            unixMilliseconds = overflows ? nil : Int64(exactly: milliseconds)
        }
    }

    /// Returns the latest death before the last death, except for ends of waits. Returns nil if there is no such death,
    /// or if the last death was not in the queue of expired requests. Workers reject messages there, so that the broker
    /// moves the messages to the dead letters.
    private static func deathBefore(_ last: FieldTable, _ others: ArraySlice<FieldTable>) -> FieldTable? {
        guard let exchange = last["exchange"]?.stringValue, exchange.hasSuffix(TopologyNames.brokerDeadLettersSuffix)
        else { return nil }
        // Accept any prefix, because only dead letters of the broker reach the queue of expired requests.
        let names = TopologyNames(prefix: String(exchange.dropLast(TopologyNames.brokerDeadLettersSuffix.count)))
        guard last["queue"]?.stringValue == names.expiredQueue else { return nil }
        // The end of a wait is also an expiry, but it did not end the request.
        return others.filter { $0["queue"]?.stringValue.map(names.isWaitQueue) != true }
            .max { seconds($0) < seconds($1) }
    }

    private static func seconds(_ death: FieldTable) -> UInt64 {
        if case .timestamp(let seconds)? = death["time"] { seconds } else { 0 }
    }

    /// Returns whether the time to live of a request ended in a request queue or the quarantine. The request queues of
    /// other workers with the same prefix count as request queues. The queue of channel commands and the wait queues do
    /// not.
    func isExpiry(in names: TopologyNames) -> Bool {
        guard reason == "expired", let queue else { return false }
        return queue == names.quarantineQueue || !names.isReserved(queue)
    }
}
