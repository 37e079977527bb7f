import APNSProtocol
import EventLoop

/// What refusals on a connection lead to: fewer streams, and its end when they are too many (Apple, "Handling
/// notification responses from APNs", which gives no figures). One for each connection.
struct ErrorLimit {
    enum Consequence: Equatable {
        case none
        /// Streams are announced as few as at the start.
        case fewerStreams
        /// As many as before.
        case allStreams
        /// It is to end, for this reason. Told once.
        case end(Reason)
    }

    private var windowStart: MonotonicTime?
    private var errors = 0
    private var badTokens = 0
    private var inARow = 0
    private var hasFewerStreams = false
    private var hasEnded = false

    /// An answer other than success is sent.
    mutating func refused(_ answer: Answer, at now: MonotonicTime, _ options: RuleOptions) -> Consequence {
        // A device that is gone is not the provider's fault.
        guard 400..<500 ~= answer.status, answer.status != 410, !hasEnded else { return .none }
        if windowStart.map({ !now.isWithin(.seconds(options.errorsWindowSeconds), of: $0) }) ?? true {
            windowStart = now
            (errors, badTokens) = (0, 0)
        }
        errors += 1
        inARow += 1
        if answer.reason == .badDeviceToken { badTokens += 1 }
        if errors > options.errorsMax ?? .max || badTokens > options.badDeviceTokensMax ?? .max {
            hasEnded = true
            return .end(answer.reason ?? .forbidden)
        }
        guard !hasFewerStreams, inARow > options.errorsInARowMax ?? .max else { return .none }
        hasFewerStreams = true
        return .fewerStreams
    }

    /// A success is sent.
    mutating func succeeded() -> Consequence {
        inARow = 0
        guard hasFewerStreams else { return .none }
        hasFewerStreams = false
        return .allStreams
    }
}
