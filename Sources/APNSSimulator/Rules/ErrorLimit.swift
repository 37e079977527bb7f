import APNSProtocol
import EventLoop

/// The limit on refusals of one connection. Too many consecutive refusals lower the connection's limit of streams. Too
/// many refusals within a period close the connection. Apple gives no figures ("Handling notification responses from
/// APNs").
struct ErrorLimit {
    enum Consequence: Equatable {
        case none
        /// The announcement of a limit of one stream.
        case fewerStreams
        /// The announcement of the full stream limit again.
        case allStreams
        /// The close of the connection for this reason, returned only once.
        case end(Reason)
    }

    private var windowStart: MonotonicTime?
    private var errors = 0
    private var badTokens = 0
    private var inARow = 0
    private var hasFewerStreams = false
    private var hasEnded = false

    /// Records an answer that is not a success, and returns the consequence. Only a status from 400 to 499 other than
    /// 410 counts.
    mutating func refused(_ answer: Answer, at now: MonotonicTime, _ options: RuleOptions) -> Consequence {
        // The provider is not responsible for an inactive device.
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

    /// Records a success. Returns the consequence.
    mutating func succeeded() -> Consequence {
        inARow = 0
        guard hasFewerStreams else { return .none }
        hasFewerStreams = false
        return .allStreams
    }
}
