import Telemetry
import Text

extension WorkerStatus {
    /// The lists that a report shortens first, in this order. Consoles have most of their elements from the broker or
    /// from other workers, too.
    static let detailLists: [DroppableList<WorkerStatus>] = [
        .list("certificates", \.certificates),
        .list("queues", \.queues),
        .list("limited_apps", \.limitedApps),
    ]

    /// The lists that a report shortens last, in this order. The last lists have the reasons why the worker holds
    /// requests or is not ready.
    static let stateLists: [DroppableList<WorkerStatus>] = [
        .optional("registrations", \.registrations),
        .optional("channel_commands", \.channelCommands),
        .optional("latency", \.totals.latency),
        .list("pauses", \.pauses),
        .list("paused", \.paused),
        .list("breakers", \.breakers),
        .list("reasons", \.reasons),
    ]

    /// Cuts the worker's name, version and phase, the broker's name, and the prefix.
    mutating func shortenTexts() {
        let bytesMax = FleetLimits.workerBytesMax
        worker = worker.cut(to: bytesMax)
        version = version.cut(to: bytesMax)
        phase = Phase(rawValue: phase.rawValue.cut(to: bytesMax))
        broker = broker.cut(to: bytesMax)
        prefix = prefix?.cut(to: bytesMax)
    }

    /// The number of elements of all lists of a status without lanes.
    var elementCount: Int {
        let latency = totals.latency.map { $0.bounds.count + $0.counts.count } ?? 0
        let registrations = registrations.map { $0.reasons.count + $0.dataKeys.count } ?? 0
        let breakers = breakers.reduce(breakers.count) { $0 + $1.apps.count }
        return reasons.count + queues.count + breakers + limitedApps.count + paused.count + pauses.count
            + certificates.count + (channelCommands?.reasons.count ?? 0) + registrations + latency
    }
}
