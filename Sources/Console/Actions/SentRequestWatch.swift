import Crypto
import EventLoop
import History
import SQLite

/// A watch on the results of the requests that an action sends. It reads the history at an interval, and stops the
/// action if too many requests fail, or if the history receives no results. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class SentRequestWatch: @unchecked Sendable {
    private static let intervalMilliseconds: Int64 = 1000
    /// The number of consecutive readings that may fail. A command may use the history alone for some seconds.
    private static let failuresMax = 60

    private let history: HistoryFeed
    private let loop: EventLoop
    /// UNIX milliseconds. Earlier results belong to earlier attempts.
    private let since: Int64
    private let stop: (String) -> Void
    private var requests: SentRequests
    private var failures = 0
    private var timer: TimerToken?
    private var hasEnded = false

    /// - Parameters:
    ///   - percentMax: the percentage of failures above which the action stops.
    ///   - since: UNIX milliseconds. Earlier results belong to earlier attempts.
    ///   - stop: stops the action for a reason.
    init(
        _ history: HistoryFeed, percentMax: Int, since: Int64, on loop: EventLoop, stop: @escaping (String) -> Void
    ) {
        (self.history, self.loop, self.since, self.stop) = (history, loop, since, stop)
        requests = SentRequests(percentMax: percentMax)
    }

    func sent(_ id: UUIDValue) {
        requests.add(id)
        if timer == nil { readLater() }
    }

    func end() {
        hasEnded = true
        if let timer { loop.cancel(timer) }
    }

    private func readLater() {
        guard !hasEnded else { return }
        timer = loop.schedule(after: .milliseconds(Self.intervalMilliseconds)) { [self] in
            requests.beginRound()
            read()
        }
    }

    private func read() {
        let (ids, since) = (requests.beginReading(), since)
        history.store.read(
            { reader throws(SQLiteError) in
                var accepted: [UUIDValue: Bool] = [:]
                for id in ids { accepted[id] = try reader.isAccepted(id, since: since) }
                return accepted
            },
            { [self] result in
                switch result {
                case .success(let accepted):
                    requests.endReading(accepted)
                    failures = history.isCurrent ? 0 : failures + 1
                    if failures > Self.failuresMax { return over("the history does not follow the journal") }
                case .failure(let error):
                    requests.endReading([:])
                    failures += 1
                    if failures > Self.failuresMax { return over("the history cannot be read: \(error.message)") }
                }
                guard !requests.isAboveMax else {
                    return over("\(requests.failures) of \(requests.results) results are not accepted")
                }
                // The next requests of a fast action follow at once. After a failure, they follow a second later.
                if requests.hasUnread, failures == 0, !hasEnded { read() } else { readLater() }
            })
    }

    private func over(_ reason: String) {
        guard !hasEnded else { return }
        end()
        stop(reason)
    }
}

extension HistoryReader {
    /// Returns whether APNs has accepted a request; nil without a result.
    fileprivate func isAccepted(_ id: UUIDValue, since: Int64) throws(SQLiteError) -> Bool? {
        for case .result(let result) in try lines(of: id) where result.finishedAt > since {
            return result.outcome == "accepted"
        }
        return nil
    }
}
