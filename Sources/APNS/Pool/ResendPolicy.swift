import APNSProtocol

/// Whether the pool itself sends a push again: after what says that APNs has not processed it and that another
/// connection or token mends at once. A pure table.
struct ResendPolicy: Sendable {
    /// What the pool has tried with a push already.
    struct Tries: Sendable, Hashable {
        /// How often it was sent again.
        fileprivate(set) var resends: UInt8 = 0
        /// Whether a refused token was the reason for one.
        fileprivate(set) var wasRefreshed = false
    }

    enum Action: Sendable, Hashable {
        /// The push has its outcome.
        case finish
        case resend
        /// Send it again if there is a newer provider token, or one may be made.
        case resendWithNewToken(TokenRefusal.Kind)
    }

    /// How often a push is sent again.
    let resendsMax: Int

    func afterAnswer(_ verdict: AnswerVerdict, _ reason: Reason?, _ tries: Tries) -> Action {
        switch verdict.action {
        case .reconnect where mayResend(tries): .resend
        case .refresh where !tries.wasRefreshed: .resendWithNewToken(.expired)
        case .configuration where reason == .invalidProviderToken && !tries.wasRefreshed: .resendWithNewToken(.invalid)
        case .ok, .deadLetter, .prune, .suspect, .configuration, .refresh, .reconnect, .backOff: .finish
        }
    }

    /// After a refused stream, a GOAWAY, or a connection that ended before the push was written.
    func afterRefusal(_ tries: Tries) -> Action {
        mayResend(tries) ? .resend : .finish
    }

    private func mayResend(_ tries: Tries) -> Bool {
        Int(tries.resends) < min(resendsMax, Int(UInt8.max))
    }
}

extension ResendPolicy.Tries {
    /// It is sent again.
    mutating func resent(withNewToken: Bool) {
        if resends < .max { resends += 1 }
        wasRefreshed = wasRefreshed || withNewToken
    }
}
