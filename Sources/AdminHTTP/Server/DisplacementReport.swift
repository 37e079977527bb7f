public import EventLoop

/// A report of the connections that an admin endpoint displaced. A displaced connection is reported immediately, unless
/// the previous report is less than a minute old. In that case, one report at the end of the minute covers all
/// connections displaced meanwhile. Used only on the endpoint's loop.
public final class DisplacementReport {
    private static let intervalSeconds = 60

    private let loop: EventLoop
    private let report: (Int) -> Void
    /// Connections displaced since the last report.
    private var displaced = 0
    private var isScheduled = false

    /// Creates a report.
    ///
    /// - Parameter report: called with the number of connections displaced since its last call.
    public init(loop: EventLoop, report: @escaping (Int) -> Void) {
        self.loop = loop
        self.report = report
    }

    public func add(_ cause: AdminClosing) {
        guard cause.isDisplaced else { return }
        displaced += 1
        if !isScheduled { reportDisplaced() }
    }

    private func reportDisplaced() {
        isScheduled = displaced > 0
        guard displaced > 0 else { return }
        report(displaced)
        displaced = 0
        loop.schedule(after: .seconds(Self.intervalSeconds)) { [self] in reportDisplaced() }
    }
}
