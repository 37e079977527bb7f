public import Crypto
public import JSON

/// An id that more than one request had.
public struct DuplicateID: Sendable, Hashable {
    public let id: UUIDValue
    /// Requests with this id, the first included.
    public internal(set) var times = 2
    /// Of the newest of them.
    public internal(set) var number: Int
    public internal(set) var connection: Int
    public internal(set) var unixMilliseconds: Int64

    /// Writes one JSON object.
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

/// The ids that came again, as many as ``idsMax``; when there are more, the one that was found first is forgotten.
struct DuplicateList {
    static let idsMax = 1000

    private var ring: [DuplicateID] = []
    private var oldest = 0
    private var places: [UUIDValue: Int] = [:]

    /// In the order in which they came again first.
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
