/// One attempt at each address of each host, in order. Pure.
struct ConnectionRound: Hashable {
    /// The hosts after the current one.
    private var hosts: [PostgresHost]
    /// The addresses of the current host without an attempt.
    var targets: [ConnectionTarget] = []
    /// The most useful error so far.
    private(set) var error: PostgresError?

    /// - Parameter lastGood: the address of the last ready connection; its host comes first.
    init(hosts: [PostgresHost], lastGood: ConnectionTarget?) {
        self.hosts = hosts.filter { $0 == lastGood?.host } + hosts.filter { $0 != lastGood?.host }
    }

    mutating func nextHost() -> PostgresHost? {
        hosts.isEmpty ? nil : hosts.removeFirst()
    }

    mutating func nextTarget() -> ConnectionTarget? {
        targets.isEmpty ? nil : targets.removeFirst()
    }

    /// Sets the addresses of a host. The address of the last ready connection comes first.
    mutating func resolved(_ host: PostgresHost, to addresses: [String], lastGood: ConnectionTarget?) {
        let found = addresses.map { ConnectionTarget(host: host, address: $0) }
        targets = found.filter { $0 == lastGood } + found.filter { $0 != lastGood }
    }

    /// Records a failed attempt. An error that needs an operator hides later ones that do not.
    mutating func failed(_ error: PostgresError) {
        if let earlier = self.error, !earlier.isRetriable, error.isRetriable { return }
        self.error = error
    }
}
