import AMQP
import EventLoop
import Text

/// The messages of a command that waits for its broker. The first message, after a second, names the cause of the
/// wait if known. Later messages name each new cause and the end of the wait.
struct BrokerNotice {
    /// The minimum duration of a reported wait.
    static let noticeDelayMilliseconds = 1000
    /// Maximum number of causes that are reported for one wait. Each node of a cluster may have a different cause.
    static let causesMax = 16

    enum Line: Equatable {
        /// The wait and its cause. The cause is nil if it is unknown.
        case waiting(sinceUnixSeconds: Int64, cause: String?)
        case connected(after: Duration)
    }

    private var since: Now?
    private var cause: String?
    private var reported: [String?] = []

    /// Whether a later call of `due(now:)` may return a line.
    var isWaiting: Bool { since != nil }

    mutating func changed(to state: BrokerStatus, now: Now) -> Line? {
        switch state {
        case .ready:
            let line = since.flatMap {
                reported.isEmpty ? nil : Line.connected(after: $0.monotonic.duration(to: now.monotonic))
            }
            self = BrokerNotice()
            return line
        case .closed, .idle:
            self = BrokerNotice()
            return nil
        case .waiting(let error, _): cause = error.message
        case .blocked(let reason): cause = "publishing blocked: \(reason)"
        case .connecting, .disconnected: break
        }
        since = since ?? now
        return due(now: now)
    }

    /// Returns the line that is due; nil if no line is due. Call this function `noticeDelayMilliseconds` after the
    /// wait began.
    mutating func due(now: Now) -> Line? {
        guard let since, since.monotonic.duration(to: now.monotonic) >= .milliseconds(Self.noticeDelayMilliseconds),
            reported.count < Self.causesMax, !reported.contains(cause)
        else { return nil }
        reported.append(cause)
        return .waiting(sinceUnixSeconds: since.unixSeconds, cause: cause)
    }
}

extension BrokerNotice.Line {
    /// Returns the text for an operator.
    ///
    /// - Parameter endpoints: hosts and ports of the broker.
    func text(_ endpoints: [Endpoint]) -> String {
        let line: String
        switch self {
        case .waiting(let since, let cause):
            let isPlaced = endpoints.contains { cause?.contains($0.description) ?? false }
            let place = isPlaced ? "" : " at \(endpoints.map(\.description).joined(separator: ", "))"
            line = "waiting for the broker\(place) since \(Self.time(since)): \(cause ?? "no response yet")"
        case .connected(let duration):
            line = "broker connected after \(duration.components.seconds) s"
        }
        return "martlet: \(line)".printable
    }

    private static func time(_ unixSeconds: Int64) -> String {
        let second = ((unixSeconds % 86_400) + 86_400) % 86_400
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) UTC"
    }
}
