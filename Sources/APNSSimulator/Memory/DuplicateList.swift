public import Crypto
public import JSON

/// An ID that more than one request had.
public struct DuplicateID: Sendable, Hashable {
    public let id: UUIDValue
    /// Number of requests with this ID, including the first. Restarts at 2 after another ID replaced this ID in the
    /// full list.
    public internal(set) var times = 2
    /// Number of the newest of these requests; 0 without a log.
    public internal(set) var number: Int
    /// Connection of the newest of these requests.
    public internal(set) var connection: Int
    /// Time of the newest of these requests.
    public internal(set) var unixMilliseconds: Int64

    /// Writes a JSON object.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("apns_id", id.description)
        json.member("times", times)
        if number > 0 { json.member("number", number) }
        json.member("connection", connection)
        json.member("unix_ms", unixMilliseconds)
        json.endObject()
    }
}

/// The IDs that several requests had, at most ``idsMax``. In a full list, a new ID replaces the ID that was found
/// first.
struct DuplicateList {
    static let idsMax = 1000

    private var ring: [DuplicateID] = []
    private var oldest = 0
    private var places: [UUIDValue: Int] = [:]

    /// The IDs, in the order of their first duplicates.
    var all: [DuplicateID] { Array(ring[oldest...] + ring[..<oldest]) }

    mutating func add(_ duplicate: DuplicateID) {
        if let place = places[duplicate.id] {
            let times = ring[place].times
            ring[place] = duplicate
            ring[place].times = times + 1
        } else if ring.count < Self.idsMax {
            places[duplicate.id] = ring.count
            ring.append(duplicate)
        } else {
            places[ring[oldest].id] = nil
            places[duplicate.id] = oldest
            ring[oldest] = duplicate
            oldest = (oldest + 1) % Self.idsMax
        }
    }

    mutating func removeAll() { self = DuplicateList() }
}
