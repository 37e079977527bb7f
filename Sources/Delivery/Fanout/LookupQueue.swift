import EventLoop
import Registrations

/// The searches for devices that wait for a lookup, and the number of lookups in flight.
///
/// Pure. While the maximum number of lookups is in flight, searches accumulate. The next lookup answers several of
/// them.
struct LookupQueue<Search> {
    struct Entry {
        let search: Search
        /// The queries, at most `DeviceLookup.queriesMax`.
        let queries: [DeviceQuery]
    }

    private var waiting = FIFO<Entry>()
    private var inFlight = 0

    var isEmpty: Bool { waiting.isEmpty }

    mutating func append(_ entry: Entry) { waiting.append(entry) }

    /// Removes and returns the searches of the next lookup, and counts the lookup as in flight. Returns nil if no
    /// search waits, or if the maximum number of lookups is in flight.
    mutating func beginLookup() -> [Entry]? {
        guard inFlight < DeviceLookup.lookupsInFlightMax, !waiting.isEmpty else { return nil }
        var entries: [Entry] = []
        var queryCount = 0
        while let next = waiting.first, queryCount + next.queries.count <= DeviceLookup.queriesMax {
            queryCount += next.queries.count
            entries.append(next)
            waiting.removeFirst()
        }
        inFlight += 1
        return entries
    }

    mutating func endLookup() { inFlight -= 1 }

    mutating func popFirst() -> Entry? { waiting.popFirst() }
}
