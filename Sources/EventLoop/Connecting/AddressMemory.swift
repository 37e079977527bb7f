/// A memory that orders a host's addresses for a connect race by the outcomes of the loop's earlier connections.
///
/// Address families alternate (RFC 8305, section 4), beginning with the family of the resolver's first address. If a
/// race began with one address and another address won, the winner is first in later races. Addresses whose connection
/// ended without a byte from the peer are last. As long as the first address works, nothing is remembered, so
/// connections follow the name service's rotation.
///
/// The memory is pure. The caller passes the time and the outcomes.
struct AddressMemory {
    /// Maximum number of remembered endpoints. The oldest endpoint is forgotten first.
    static let endpointsMax = 64
    /// Time after which an entry is forgotten and the resolver's order applies again (RFC 6555, section 4).
    static let secondsMax = 600

    private struct Entry {
        var worked: SocketAddress?
        /// Addresses whose connection ended without a byte from the peer, at most as many as a race attempts.
        var silent: [SocketAddress] = []
        /// The time of the first update.
        var since: MonotonicTime
    }

    private var entries: [Endpoint: Entry] = [:]

    var endpointCount: Int { entries.count }

    /// Returns each address once, in the order of a race's attempts.
    mutating func ordered(_ addresses: [SocketAddress], of endpoint: Endpoint, _ now: MonotonicTime) -> [SocketAddress]
    {
        let alternating = Self.alternating(addresses)
        guard let entry = current(endpoint, now) else { return alternating }
        let first = alternating.filter { $0 == entry.worked }
        let last = alternating.filter { $0 != entry.worked && entry.silent.contains($0) }
        return first + alternating.filter { !first.contains($0) && !last.contains($0) } + last
    }

    /// Records that an address won a race. Does nothing if the race began with this address.
    ///
    /// - Parameter wasFirst: whether the race began with this address.
    mutating func connected(to address: SocketAddress, wasFirst: Bool, of endpoint: Endpoint, _ now: MonotonicTime) {
        guard !wasFirst else { return }
        update(endpoint, now) { $0.worked = address }
    }

    /// Records that a connection to the address opened and ended before the peer sent a byte.
    mutating func wasSilent(_ address: SocketAddress, of endpoint: Endpoint, _ now: MonotonicTime) {
        update(endpoint, now) { entry in
            if entry.worked == address { entry.worked = nil }
            guard !entry.silent.contains(address), entry.silent.count < ConnectRace.addressesMax else { return }
            entry.silent.append(address)
        }
    }

    private mutating func update(_ endpoint: Endpoint, _ now: MonotonicTime, _ change: (inout Entry) -> Void) {
        var entry = current(endpoint, now) ?? Entry(since: now)
        change(&entry)
        entries[endpoint] = entry
        guard entries.count > Self.endpointsMax, let oldest = entries.min(by: { $0.value.since < $1.value.since })
        else { return }
        entries[oldest.key] = nil
    }

    private mutating func current(_ endpoint: Endpoint, _ now: MonotonicTime) -> Entry? {
        guard let entry = entries[endpoint] else { return nil }
        if now.isWithin(.seconds(Self.secondsMax), of: entry.since) { return entry }
        entries[endpoint] = nil
        return nil
    }

    private static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let family = addresses.first?.family else { return [] }
        var unique: [SocketAddress] = []
        for address in addresses where !unique.contains(address) { unique.append(address) }
        let ours = unique.filter { $0.family == family }
        let others = unique.filter { $0.family != family }
        var result: [SocketAddress] = []
        for index in 0..<max(ours.count, others.count) {
            if index < ours.count { result.append(ours[index]) }
            if index < others.count { result.append(others[index]) }
        }
        return result
    }
}
