import ControlProtocol

/// A time in which lines of a worker may be missing.
package struct HistoryGap: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// A process that another process replaced, without a last batch.
        case killed
        /// Batches that did not arrive.
        case missing
        /// Lines that the worker dropped.
        case dropped
        /// A process whose last batch is older than `FleetView.silentSeconds`. A worker without requests sends none.
        case silent
    }

    package var worker: String
    /// The time of the last batch before the gap, by the worker's clock, in UNIX milliseconds. For a process without an
    /// earlier batch, one interval before its first known batch.
    package var from: Int64
    /// The time of the first batch after the gap, in UNIX milliseconds. For the reason `killed`, a batch of the new
    /// process. For the reason `silent`, the time of the query. It is never before `from`.
    package var until: Int64
    package var reason: Reason
    /// The number of missing lines, or of missing batches if the reason is `missing`; nil if unknown.
    package var count: Int?

    package init(worker: String, from: Int64, until: Int64, reason: Reason, count: Int? = nil) {
        self.worker = worker
        self.from = from
        self.until = max(from, until)
        self.reason = reason
        self.count = count
    }

    /// Returns whether lines of a time in the range may be missing.
    package func concerns(_ range: ClosedRange<Int64>) -> Bool { from <= range.upperBound && until >= range.lowerBound }

    /// Returns a sentence for operators.
    ///
    /// - Parameter time: formats a time in UNIX milliseconds.
    package func sentence(_ time: (Int64) -> String) -> String {
        switch reason {
        case .killed:
            "\(worker) was killed after \(time(from)); up to \(JournalLimits.intervalSeconds) s of its results are missing"
        case .missing:
            "batches of \(worker) are missing from \(time(from)) to \(time(until)): \(count ?? 0)"
        case .dropped:
            "\(worker) dropped lines from \(time(from)) to \(time(until)): \(count ?? 0)"
        case .silent:
            "\(worker) has sent no journal since \(time(from)); if it was killed, up to "
                + "\(JournalLimits.intervalSeconds) s of its results are missing"
        }
    }
}
