import EventLoop

/// The time by which the index is behind the journal. It performs no I/O.
struct JournalLag {
    /// The time without a message after which the stream counts as read.
    static let idleSeconds: Int64 = 5

    /// The time of the last indexed batch in UNIX milliseconds, and the milliseconds from that time to its indexing.
    private var last: (at: Int64, behind: Int64)?
    private var receivedAt: MonotonicTime?

    mutating func received(at now: MonotonicTime) { receivedAt = now }

    /// - Parameters:
    ///   - batch: the time of the last batch of a transaction; nil if it had none.
    ///   - now: UNIX milliseconds.
    mutating func written(_ batch: Int64?, at now: Int64) {
        if let batch { last = (batch, max(0, now - batch)) }
    }

    /// - Parameter isIdle: whether all received messages are indexed.
    func seconds(isAttached: Bool, isIdle: Bool, at now: Now) -> Int? {
        guard isIdle else { return last.map { Int(max(0, now.unixMilliseconds - $0.at) / 1000) } }
        guard isAttached else { return nil }
        if let receivedAt, now.monotonic < receivedAt + .seconds(Self.idleSeconds), let last {
            return Int(last.behind / 1000)
        }
        return 0
    }
}
