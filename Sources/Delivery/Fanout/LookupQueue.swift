import EventLoop
import Registrations

/// The searches for devices that wait for a lookup, and the number of lookups in flight.
///
/// Pure. While the maximum number of lookups is in flight, searches accumulate. The next lookup answers several of
/// them.
struct LookupQueue<Search> {
    struct Entry {
        let search: Search
        /// The number of queries, at most `DeviceLookup.queriesMax`.
        let queryCount: Int
    }

    /// The searches of one lookup.
    struct Lookup {
        var entries: [Entry] = []
        /// The queries of all entries, in their order.
        var queries: [DeviceQuery] = []
    }

    private var waiting = FIFO<Entry>()
    private var queries = FIFO<DeviceQuery>()
    private var inFlight = 0

    var isEmpty: Bool { waiting.isEmpty }

    mutating func append(_ search: Search, _ query: DeviceQuery) {
        waiting.append(Entry(search: search, queryCount: 1))
        queries.append(query)
    }

    /// - Parameter queries: At most `DeviceLookup.queriesMax` queries.
    mutating func append(_ search: Search, _ queries: some Collection<DeviceQuery>) {
        waiting.append(Entry(search: search, queryCount: queries.count))
        for query in queries { self.queries.append(query) }
    }

    /// Removes and returns the searches of the next lookup, and counts the lookup as in flight. Returns nil if no
    /// search waits, or if the maximum number of lookups is in flight.
    mutating func beginLookup() -> Lookup? {
        guard inFlight < DeviceLookup.lookupsInFlightMax, !waiting.isEmpty else { return nil }
        var lookup = Lookup()
        let count = min(waiting.count, DeviceLookup.queriesMax)
        lookup.entries.reserveCapacity(count)
        lookup.queries.reserveCapacity(count)
        while let next = waiting.first, lookup.queries.count + next.queryCount <= DeviceLookup.queriesMax {
            waiting.removeFirst()
            lookup.entries.append(next)
            for _ in 0..<next.queryCount {
                if let query = queries.popFirst() { lookup.queries.append(query) }
            }
        }
        inFlight += 1
        return lookup
    }

    mutating func endLookup() { inFlight -= 1 }

    mutating func popFirst() -> Search? {
        guard let next = waiting.popFirst() else { return nil }
        for _ in 0..<next.queryCount { queries.removeFirst() }
        return next.search
    }
}
