import EventLoop
import Registrations

/// The searches for devices that wait for a lookup, and the number of lookups in flight.
///
/// Pure. While a lookup is in flight, searches accumulate, so that the next lookup answers more of them.
struct LookupQueue<Search> {
    static var lookupsInFlightMax: Int { 4 }

    struct Entry {
        let search: Search
        /// At most `DeviceLookup.queriesMax` queries.
        let queries: [DeviceQuery]
    }

    private var waiting = FIFO<Entry>()
    private var inFlight = 0

    var isEmpty: Bool { waiting.isEmpty }

    mutating func append(_ entry: Entry) { waiting.append(entry) }

    /// Removes the searches of the next lookup, which begins. Returns nil if no search waits or enough lookups are in
    /// flight.
    mutating func beginLookup() -> [Entry]? {
        guard inFlight < Self.lookupsInFlightMax, !waiting.isEmpty else { return nil }
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
