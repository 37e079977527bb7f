import EventLoop

/// Who keeps opening connections and closing them again is refused for a while: Apple takes it for an attack
/// ("Establishing a connection to APNs", which gives no figures).
struct ConnectionRateLimit {
    /// A connection that had so many requests was worth opening.
    static let requestsMin = 10
    /// Addresses remembered; those beyond are not limited.
    static let addressesMax = 10_000
    /// How often it is looked which of them can be forgotten.
    private static let forgetSeconds: Int64 = 1

    private struct Client {
        var windowStart: MonotonicTime
        /// Short connections since then.
        var count = 0
        var refusal: Range<MonotonicTime>?
    }

    private var clients: [[UInt8]: Client] = [:]
    private var lastForgotten: MonotonicTime?

    /// Whether a connection from this address is taken.
    mutating func admits(_ address: [UInt8], at now: MonotonicTime) -> Bool {
        guard let refusal = clients[address]?.refusal else { return true }
        // Not before it began either, as after the clock was set back.
        guard !refusal.contains(now) else { return false }
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
        let length = Duration.seconds(options.shortConnectionsWindowSeconds)
        guard let max = options.shortConnectionsMax, lifetime < length, requests < Self.requestsMin else { return }
        if clients[address] == nil, clients.count >= Self.addressesMax { forget(before: now - length, now) }
        guard clients[address] != nil || clients.count < Self.addressesMax else { return }
        var client = clients[address] ?? Client(windowStart: now)
        // One that ends late does not shorten it.
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
