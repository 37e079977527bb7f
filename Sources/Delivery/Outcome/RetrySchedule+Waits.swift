import BrokerTopology

extension RetrySchedule {
    /// The approximate waits of a held request. Each wait applies from the given number of preceding holds on. The
    /// short first waits detect a repaired cause soon. The long later waits load the broker less.
    private static let holds: [(rounds: Int, seconds: Int)] = [(0, 30), (2, 120), (9, 600)]

    /// Returns the wait after a number of attempts; nil if the request would return too late.
    ///
    /// - Parameters:
    ///   - leastSeconds: The shortest delay that APNs permits. The wait may be shorter if the deadline or the longest
    ///     delay requires it.
    ///   - latestSeconds: The seconds until the deadline of the request; nil without a deadline.
    func wait(afterAttempts attempts: Int, leastSeconds: Int64, latestSeconds: Int64?) -> WaitDelay? {
        let usual = waits[min(max(attempts, 1), waits.count) - 1]
        return wait(atLeast: max(Int64(usual.seconds), leastSeconds), latestSeconds)
    }

    /// Returns the wait of a held request. It is the delay nearest to the wait in `holds`, or a shorter delay before the
    /// end of `secondsLeft`. Returns nil if the request would return too late.
    ///
    /// - Parameters:
    ///   - round: The number of preceding holds (`Attempts.holds`).
    ///   - secondsLeft: The seconds until the request is given up. The returned delay may exceed this time if it is the
    ///     shortest delay.
    ///   - latestSeconds: The seconds until the deadline of the request; nil without a deadline.
    func hold(round: Int, secondsLeft: Int64, latestSeconds: Int64?) -> WaitDelay? {
        let wanted = nearest(toSeconds: Self.holds.last { $0.rounds <= round }?.seconds ?? Self.holds[0].seconds)
        let possible = waits.filter { $0.secondsMax < latestSeconds ?? .max }
        return possible.last { $0 <= wanted && $0.secondsMax <= secondsLeft } ?? possible.first
    }

    /// Returns the delay whose ratio to the wanted delay is nearest to 1. Of two equally near delays, returns the
    /// shorter.
    private func nearest(toSeconds wanted: Int) -> WaitDelay {
        waits.min { distance($0, wanted) < distance($1, wanted) } ?? waits[0]
    }

    private func distance(_ delay: WaitDelay, _ wanted: Int) -> Double {
        Double(max(delay.seconds, wanted)) / Double(min(delay.seconds, wanted))
    }

    /// The wait of a request whose permit time is known.
    struct PermitWait: Hashable {
        var delay: WaitDelay
        /// The exact wait; nil to wait for the delay of the queue.
        var exact: Wait.Exact?
    }

    /// Returns the wait of a request whose permit is due after `wanted` milliseconds. The wait is exact in the queue of
    /// the next longer delay, if the deadline permits. Otherwise it is the full delay of a queue. Returns nil if the
    /// request would return too late.
    func permitWait(afterMilliseconds wanted: Int64, latestSeconds: Int64?) -> PermitWait? {
        let latest = latestSeconds ?? .max
        let exactly = waits.firstIndex { Int64($0.seconds) * 1000 >= wanted && wanted / 1000 + 1 < latest }.map {
            PermitWait(delay: waits[$0], exact: exact(wanted, $0))
        }
        // A request cannot return before the requests ahead of it in the queue. If the return may be too late, prefer a
        // queue with a shorter delay.
        if let exactly, exactly.delay.secondsMax < latest { return exactly }
        return wait(atLeast: (wanted + 999) / 1000, latestSeconds).map { PermitWait(delay: $0) } ?? exactly
    }

    /// Returns the exact wait with its sibling queue. The broker expires messages only at the head of a queue. The
    /// first sibling gets the shortest waits and the last sibling the longest. A request therefore waits behind another
    /// request for only a part of the delay.
    private func exact(_ milliseconds: Int64, _ index: Int) -> Wait.Exact {
        let least = index == 0 ? 0 : Int64(waits[index - 1].seconds) * 1000
        let span = Int64(waits[index].seconds) * 1000 - least
        let sibling = (milliseconds - least) * Int64(WaitDelay.siblings) / span
        return Wait.Exact(milliseconds: milliseconds, sibling: min(Int(sibling), WaitDelay.siblings - 1))
    }

    /// Returns the shortest sufficient delay, or the longest delay if none suffices. The deadline limits the returned
    /// delay. Returns nil if the deadline permits no delay.
    private func wait(atLeast seconds: Int64, _ latestSeconds: Int64?) -> WaitDelay? {
        let wanted = waits.first { Int64($0.seconds) >= seconds } ?? waits.last
        guard let latestSeconds else { return wanted }
        return waits.last { $0 <= wanted ?? $0 && $0.secondsMax < latestSeconds }
    }
}

extension WaitDelay {
    /// The delay of the slowest sibling queue, in seconds, rounded up.
    fileprivate var secondsMax: Int64 { (milliseconds(sibling: Self.siblings - 1) + 999) / 1000 }
}
