/// The keys of erased devices, users and requests. Lines up to the time of an erasure must not be stored again.
struct HistoryTombstones: Sendable, Hashable {
    private var times: [HistoryKey: Int64] = [:]
    private var newest: Int64?

    var isEmpty: Bool { times.isEmpty }
    var count: Int { times.count }

    mutating func add(_ key: HistoryKey, at time: Int64) {
        times[key] = max(time, times[key] ?? time)
        newest = max(time, newest ?? time)
    }

    /// Returns whether a line of this time must be skipped.
    func covers(_ key: HistoryKey?, at time: Int64) -> Bool { key.flatMap { times[$0] }.map { time <= $0 } ?? false }

    /// Returns whether a sample of this time without a token key or a user key must be skipped.
    func coversUnnamedSample(at time: Int64) -> Bool { newest.map { time <= $0 } ?? false }
}
