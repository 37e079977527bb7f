import AMQP
import EventLoop
import Text

/// Decides what a command that waits for its broker says meanwhile: after a second what it waits for, again when there is
/// another cause, and when the broker is there. Pure.
struct BrokerNotice {
    /// Nobody needs to hear of a shorter wait.
    static let patienceMilliseconds = 1000
    /// Causes that are named of one wait: the nodes of a cluster may each have their own.
    static let causesMax = 16

    enum Line: Equatable {
        /// nil: there has been no answer and no error.
        case waits(sinceUnixSeconds: Int64, cause: String?)
        case there(after: Duration)
    }

    private var since: Now?
    private var cause: String?
    private var said: [String?] = []

    /// Whether something may have to be said once time has passed.
    var isWaiting: Bool { since != nil }

    mutating func changed(to state: BrokerStatus, now: Now) -> Line? {
        switch state {
        case .ready:
            let line = since.flatMap {
                said.isEmpty ? nil : Line.there(after: $0.monotonic.duration(to: now.monotonic))
            }
            self = BrokerNotice()
            return line
        case .closed, .idle:
            self = BrokerNotice()
            return nil
        case .waiting(let error, _): cause = error.message
        case .blocked(let reason): cause = "it takes no messages for now: \(reason)"
        case .connecting, .disconnected: break
        }
        since = since ?? now
        return due(now: now)
    }

    /// To be called when the patience has passed since the wait began.
    mutating func due(now: Now) -> Line? {
        guard let since, since.monotonic.duration(to: now.monotonic) >= .milliseconds(Self.patienceMilliseconds),
            said.count < Self.causesMax, !said.contains(cause)
        else { return nil }
        said.append(cause)
        return .waits(sinceUnixSeconds: since.unixSeconds, cause: cause)
    }
}

extension BrokerNotice.Line {
    /// For an operator.
    ///
    /// - Parameter endpoints: hosts and ports of the broker.
    func text(_ endpoints: [Endpoint]) -> String {
        let line: String
        switch self {
        case .waits(let since, let cause):
            let isPlaced = endpoints.contains { cause?.contains($0.description) ?? false }
            let place = isPlaced ? "" : " at \(endpoints.map(\.description).joined(separator: ", "))"
            line = "waiting for the broker\(place) since \(Self.time(since)): \(cause ?? "no answer yet")"
        case .there(let duration):
            line = "the broker is there, after \(duration.components.seconds) s"
        }
        return "martlet: \(line)".printable
    }

    private static func time(_ unixSeconds: Int64) -> String {
        let second = ((unixSeconds % 86_400) + 86_400) % 86_400
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) UTC"
    }
}
