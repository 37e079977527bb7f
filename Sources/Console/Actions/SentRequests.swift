import Crypto

/// The results of requests that an action has sent, and the share of failures at which the action stops. It performs no
/// I/O.
struct SentRequests: Sendable {
    /// Maximum number of requests whose results are awaited. Further requests are not counted.
    static let pendingMax = 10_000
    /// Maximum number of requests that one reading of the history looks up.
    static let readingMax = 100
    /// Minimum number of results for a stop.
    static let resultsMin = 20

    /// The percentage of failures above which the action stops.
    private let percentMax: Int
    /// The requests without a result. A reading begins with the first ones.
    private var pending: [UUIDValue] = []
    /// The number of first requests that the readings of this round have not looked up.
    private var unreadCount = 0
    private var reading: [UUIDValue] = []
    private(set) var results = 0
    /// The results other than `accepted`.
    private(set) var failures = 0

    init(percentMax: Int) { self.percentMax = percentMax }

    /// Whether too many requests have failed.
    var isAboveMax: Bool { results >= Self.resultsMin && failures * 100 > results * percentMax }

    mutating func add(_ id: UUIDValue) {
        if pending.count + reading.count < Self.pendingMax { pending.append(id) }
    }

    /// Whether this round has not looked up all requests that were sent before it.
    var hasUnread: Bool { unreadCount > 0 }

    /// Begins a round of readings, which looks up each request once.
    mutating func beginRound() { unreadCount = pending.count }

    /// Returns the requests that the next reading looks up. Its end must be reported.
    mutating func beginReading() -> [UUIDValue] {
        reading = Array(pending.prefix(Self.readingMax))
        pending.removeFirst(reading.count)
        unreadCount = max(0, unreadCount - reading.count)
        return reading
    }

    /// Counts the results of a reading. Requests without a result are looked up again after the others.
    ///
    /// - Parameter accepted: whether APNs has accepted the request, for each request with a result.
    mutating func endReading(_ accepted: [UUIDValue: Bool]) {
        for id in reading {
            guard let isAccepted = accepted[id] else {
                pending.append(id)
                continue
            }
            results += 1
            if !isAccepted { failures += 1 }
        }
        reading = []
    }
}
