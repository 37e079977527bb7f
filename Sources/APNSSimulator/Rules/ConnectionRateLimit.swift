import EventLoop

/// Who keeps opening connections and closing them again is refused for a while: Apple takes it for an attack
/// ("Establishing a connection to APNs", which gives no figures).
struct ConnectionRateLimit {
    /// A connection that had so many requests was worth opening.
    static let requestsMin = 10
    /// Addresses remembered; those beyond are not limited.
    static let addressesMax = 10_000

    private struct Client {
        var windowStart: MonotonicTime
        /// Short connections since then.
        var count = 0
        var refusedUntil: MonotonicTime?
    }

    private var clients: [[UInt8]: Client] = [:]

    /// Whether a connection from this address is taken.
    mutating func admits(_ address: [UInt8], at now: MonotonicTime) -> Bool {
        guard let until = clients[address]?.refusedUntil else { return true }
        guard until <= now else { return false }
        clients[address] = nil
        return true
    }

    /// A client has closed its connection.
    ///
    /// - Parameters:
    ///   - lifetime: how long it was open.
    ///   - requests: how many it had.
    mutating func closed(
        _ address: [UInt8], after lifetime: Duration, requests: Int, at now: MonotonicTime, _ options: RuleOptions
    ) {
        let window = Duration.seconds(options.shortConnectionsWindowSeconds)
        guard let max = options.shortConnectionsMax, lifetime < window, requests < Self.requestsMin else { return }
        if clients[address] == nil, clients.count >= Self.addressesMax { forget(before: now - window, now) }
        guard clients[address] != nil || clients.count < Self.addressesMax else { return }
        var client = clients[address] ?? Client(windowStart: now)
        if client.windowStart.duration(to: now) >= window { client = Client(windowStart: now) }
        client.count += 1
        if client.count >= max, client.refusedUntil == nil {
            client.refusedUntil = now + .seconds(options.refusalSeconds)
        }
        clients[address] = client
    }

    private mutating func forget(before start: MonotonicTime, _ now: MonotonicTime) {
        clients = clients.filter { $0.value.windowStart >= start || $0.value.refusedUntil.map { $0 > now } ?? false }
    }
}
