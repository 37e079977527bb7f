import EventLoop

/// The temporary refusal of addresses that open and close connections rapidly. Apple treats rapid connects as an
/// attack ("Establishing a connection to APNs", which gives no figures).
struct ConnectionRateLimit {
    /// Minimum number of requests of a connection that does not count as short.
    static let requestsMin = 10
    /// Maximum number of remembered addresses. Further addresses are not limited.
    static let addressesMax = 10_000
    /// Minimum interval between removals of expired addresses.
    private static let forgetSeconds: Int64 = 1

    private struct Client {
        var windowStart: MonotonicTime
        /// Number of short connections since the window began.
        var count = 0
        var refusal: Range<MonotonicTime>?
    }

    private var clients: [[UInt8]: Client] = [:]
    private var lastForgotten: MonotonicTime?

    /// Returns whether to accept a connection from this address. Forgets the address if its refusal is over.
    mutating func admits(_ address: [UInt8], at now: MonotonicTime) -> Bool {
        guard let refusal = clients[address]?.refusal else { return true }
        // A refusal that begins in the future does not apply either, because the clock was set back.
        guard !refusal.contains(now) else { return false }
        clients[address] = nil
        return true
    }

    /// Counts an ended connection if the connection was short.
    ///
    /// - Parameters:
    ///   - lifetime: the time during which the connection was open.
    ///   - requests: number of complete requests on the connection.
    mutating func closed(
        _ address: [UInt8], after lifetime: Duration, requests: Int, at now: MonotonicTime, _ options: RuleOptions
    ) {
        let length = Duration.seconds(options.shortConnectionsWindowSeconds)
        guard let max = options.shortConnectionsMax, lifetime < length, requests < Self.requestsMin else { return }
        if clients[address] == nil, clients.count >= Self.addressesMax { forget(before: now - length, now) }
        guard clients[address] != nil || clients.count < Self.addressesMax else { return }
        var client = clients[address] ?? Client(windowStart: now)
        // A connection that ends during the refusal does not change the refusal.
        guard client.refusal?.contains(now) != true else { return }
        if !now.isWithin(length, of: client.windowStart) || client.refusal != nil {
            client = Client(windowStart: now)
        }
        client.count += 1
        if client.count >= max { client.refusal = now..<(now + .seconds(options.refusalSeconds)) }
        clients[address] = client
    }

    private mutating func forget(before start: MonotonicTime, _ now: MonotonicTime) {
        if let lastForgotten, now.isWithin(.seconds(Self.forgetSeconds), of: lastForgotten) { return }
        lastForgotten = now
        clients = clients.filter { $0.value.windowStart >= start || $0.value.refusal?.contains(now) ?? false }
    }
}
