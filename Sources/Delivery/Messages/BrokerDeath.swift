package import AMQP
import BrokerTopology

/// The last time the broker itself took a message from a queue, as `x-death` has it
/// (https://www.rabbitmq.com/docs/dlx#effects-on-messages).
package struct BrokerDeath {
    /// `rejected`, `expired`, `maxlen`, `delivery_limit`.
    package var reason: String?
    package var queue: String?
    package var unixMilliseconds: Int64?

    /// nil if the broker never did.
    package init?(_ headers: FieldTable) {
        guard case .array(let entries)? = headers["x-death"] else { return nil }
        let deaths = entries.compactMap { if case .table(let death) = $0 { death } else { nil } }
        // The first is the last death. RabbitMQ 3.10 turns the order of the others round at each death.
        guard let last = deaths.first else { return nil }
        let death = Self.deathBefore(last, deaths.dropFirst()) ?? last
        reason = death["reason"]?.stringValue
        queue = death["queue"]?.stringValue
        if case .timestamp(let seconds)? = death["time"] {
            unixMilliseconds = Int64(exactly: seconds)?.multipliedReportingOverflow(by: 1000).partialValue
        }
    }

    /// Workers hand on what they reject from the queue for expired messages, so that the death before says why. nil if the last
    /// one was elsewhere.
    private static func deathBefore(_ last: FieldTable, _ others: ArraySlice<FieldTable>) -> FieldTable? {
        guard let exchange = last["exchange"]?.stringValue, exchange.hasSuffix(TopologyNames.brokerDeadLettersSuffix)
        else { return nil }
        // Of whatever prefix: the broker's dead letters alone come to that queue.
        let names = TopologyNames(prefix: String(exchange.dropLast(TopologyNames.brokerDeadLettersSuffix.count)))
        guard last["queue"]?.stringValue == names.expiredQueue else { return nil }
        // The end of a wait gives nothing up.
        return others.filter { $0["queue"]?.stringValue.map(names.isWaitQueue) != true }
            .max { seconds($0) < seconds($1) }
    }

    private static func seconds(_ death: FieldTable) -> UInt64 {
        if case .timestamp(let seconds)? = death["time"] { seconds } else { 0 }
    }

    /// Whether the time to live of a request ended in a queue of requests, also one of other workers with the same prefix, or in
    /// quarantine; and not that of a channel command, or of a message that waited.
    func isExpiry(in names: TopologyNames) -> Bool {
        guard reason == "expired", let queue else { return false }
        return queue == names.quarantineQueue || !names.isReserved(queue)
    }
}
