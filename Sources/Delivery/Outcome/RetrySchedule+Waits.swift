import BrokerTopology

extension RetrySchedule {
    /// Held requests wait about this long from so many rounds on, counted from 0: at first a repaired cause is soon
    /// noticed, later they load the broker less.
    private static let holds: [(rounds: Int, seconds: Int)] = [(0, 30), (2, 120), (9, 600)]

    /// The wait after so many tries that count.
    ///
    /// - Parameters:
    ///   - leastSeconds: what the service has asked for.
    ///   - latestSeconds: seconds until it is too late to send it; nil: never.
    /// - Returns: nil when it would come back too late.
    func wait(afterTries tries: Int, leastSeconds: Int64, latestSeconds: Int64?) -> WaitDelay? {
        let usual = waits[min(max(tries, 1), waits.count) - 1]
        return wait(atLeast: max(Int64(usual.seconds), leastSeconds), latestSeconds)
    }

    /// The wait of a request that is held for the `round`th time in a row, counted from 0: in the queue whose delay is
    /// nearest, but no longer than there is time.
    ///
    /// - Parameters:
    ///   - secondsLeft: until it is given up. The shortest delay may be longer.
    ///   - latestSeconds: seconds until it is too late to send it; nil: never.
    /// - Returns: nil when it would come back too late.
    func hold(round: Int, secondsLeft: Int64, latestSeconds: Int64?) -> WaitDelay? {
        let wanted = nearest(toSeconds: Self.holds.last { $0.rounds <= round }?.seconds ?? Self.holds[0].seconds)
        let possible = waits.filter { $0.secondsMax < latestSeconds ?? .max }
        return possible.last { $0 <= wanted && $0.secondsMax <= secondsLeft } ?? possible.first
    }

    /// By the quotient; of two that are equally near, the shorter.
    private func nearest(toSeconds wanted: Int) -> WaitDelay {
        waits.min { distance($0, wanted) < distance($1, wanted) } ?? waits[0]
    }

    private func distance(_ delay: WaitDelay, _ wanted: Int) -> Double {
        Double(max(delay.seconds, wanted)) / Double(min(delay.seconds, wanted))
    }

    /// How long a message waits whose turn is known.
    struct Time: Hashable {
        var delay: WaitDelay
        /// nil: as long as one of the delay's queues says.
        var exact: Wait.Exact?
    }

    /// The wait of a message whose turn comes after so long: just that, in the queue of the next longer delay, else the
    /// longest; but no longer than there is time.
    func turn(afterMilliseconds wanted: Int64, latestSeconds: Int64?) -> Time? {
        let latest = latestSeconds ?? .max
        let exactly = waits.firstIndex { Int64($0.seconds) * 1000 >= wanted && wanted / 1000 + 1 < latest }.map {
            Time(delay: waits[$0], exact: exact(wanted, $0))
        }
        // Behind another it comes when that one does: where that is too late, it is looked at anew before.
        if let exactly, exactly.delay.secondsMax < latest { return exactly }
        return wait(atLeast: (wanted + 999) / 1000, latestSeconds).map { Time(delay: $0) } ?? exactly
    }

    /// Messages leave a queue at its head alone: of a delay's queues the first takes the shortest waits, the last the
    /// longest, so that one is kept by another of these for no more than a part of the delay.
    private func exact(_ milliseconds: Int64, _ index: Int) -> Wait.Exact {
        let least = index == 0 ? 0 : Int64(waits[index - 1].seconds) * 1000
        let span = Int64(waits[index].seconds) * 1000 - least
        let sibling = (milliseconds - least) * Int64(WaitDelay.siblings) / span
        return Wait.Exact(milliseconds: milliseconds, sibling: min(Int(sibling), WaitDelay.siblings - 1))
    }

    /// The shortest that is long enough, else the longest; but no longer than there is time.
    private func wait(atLeast seconds: Int64, _ latestSeconds: Int64?) -> WaitDelay? {
        let wanted = waits.first { Int64($0.seconds) >= seconds } ?? waits.last
        guard let latestSeconds else { return wanted }
        return waits.last { $0 <= wanted ?? $0 && $0.secondsMax < latestSeconds }
    }
}

extension WaitDelay {
    /// Until the last of its siblings gives a message back.
    fileprivate var secondsMax: Int64 { (milliseconds(sibling: Self.siblings - 1) + 999) / 1000 }
}
