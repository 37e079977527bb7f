/// A round of connection attempts, one at each address of each host. Pure.
struct ConnectionRound: Hashable {
    /// The hosts that the round has not reached.
    private var hosts: [PostgresHost]
    /// The addresses of the current host that the round has not reached.
    var targets: [ConnectionTarget] = []
    /// The error to report if all attempts fail; nil before the first failure.
    private(set) var error: PostgresError?

    /// Creates a round.
    ///
    /// - Parameter lastGood: the target of the last ready connection, whose host comes first; nil if none was ready.
    init(hosts: [PostgresHost], lastGood: ConnectionTarget?) {
        self.hosts = hosts.filter { $0 == lastGood?.host } + hosts.filter { $0 != lastGood?.host }
    }

    mutating func nextHost() -> PostgresHost? {
        hosts.isEmpty ? nil : hosts.removeFirst()
    }

    mutating func nextTarget() -> ConnectionTarget? {
        targets.isEmpty ? nil : targets.removeFirst()
    }

    /// Sets the addresses of the current host. The address of the last ready connection comes first.
    mutating func resolved(_ host: PostgresHost, to addresses: [String], lastGood: ConnectionTarget?) {
        let found = addresses.map { ConnectionTarget(host: host, address: $0) }
        targets = found.filter { $0 == lastGood } + found.filter { $0 != lastGood }
    }

    /// Records a failed attempt. Its error replaces the earlier one, unless only the earlier one needs an operator.
    mutating func failed(_ error: PostgresError) {
        if let earlier = self.error, !earlier.isRetriable, error.isRetriable { return }
        self.error = error
    }
}
