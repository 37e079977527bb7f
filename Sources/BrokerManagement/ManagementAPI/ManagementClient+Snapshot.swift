import BrokerTopology
import Glibc

/// Snapshots of the broker.
extension ManagementClient {
    /// Maximum wait for current statistics. The broker collects statistics every 5 s (`collect_statistics_interval`)
    /// and shows them after about 10 s.
    private static let statisticsLagMillisecondsMax: Int64 = 15_000
    private static let repeatMicroseconds: UInt32 = 500_000

    /// Returns the topology's objects that exist, and other queues that are bound to its exchanges.
    func snapshot(of topology: Topology) throws(Failure) -> BrokerSnapshot {
        var snapshot = BrokerSnapshot()
        let overview = try overview()
        snapshot.version = BrokerVersion(overview.version)
        snapshot.showsStatistics = overview.showsStatistics
        snapshot.exchangeTypes = overview.exchangeTypes
        for wanted in topology.exchanges {
            guard let exchange = try exchange(wanted.name) else { continue }
            snapshot.exchanges[wanted.name] = exchange
            snapshot.bindings += try bindings(from: wanted.name)
        }
        for name in Set(topology.queues.map(\.name) + snapshot.bindings.compactMap(\.queue)).sorted() {
            if let queue = try queue(name) { snapshot.queues[name] = queue }
        }
        do throws(Failure) {
            for wanted in snapshot.version.map({ topology.policies(of: $0) }) ?? [] {
                if let policy = try policy(wanted.name) { snapshot.policies[wanted.name] = policy }
            }
        } catch {
            // Policies need a separate tag (https://www.rabbitmq.com/docs/management#permissions).
            guard error.isRefusal else { throw error }
            snapshot.seesPolicies = false
        }
        return snapshot
    }

    /// Returns the snapshot once the statistics contain the effective policies, or after
    /// ``statisticsLagMillisecondsMax``. Until then, repeatedly requests the queues whose delivery limit is finite or
    /// unknown.
    ///
    /// - Parameter onWait: called before a wait, with a sentence for an operator.
    func settledSnapshot(of topology: Topology, onWait: (String) -> Void) throws(Failure) -> BrokerSnapshot {
        var snapshot = try snapshot(of: topology)
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(Self.statisticsLagMillisecondsMax)
        if snapshot.mayShowFormerLimits(of: topology) {
            onWait(
                "waiting up to \(Self.statisticsLagMillisecondsMax / 1000) s for \(place): the statistics may still "
                    + "show the delivery limits from before policy "
                    + topology.policies(of: snapshot.version ?? BrokerVersion(4, 0)).map(\.name).joined(separator: ", ")
            )
        }
        while snapshot.mayShowFormerLimits(of: topology), clock.now < end {
            usleep(Self.repeatMicroseconds)
            for name in snapshot.unsettledQueues(of: topology) { snapshot.queues[name] = try queue(name) }
        }
        return snapshot
    }
}
