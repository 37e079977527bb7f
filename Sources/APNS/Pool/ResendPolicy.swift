import APNSProtocol

/// A pure table that determines whether the pool sends a push again. A resend requires that APNs has not processed the
/// push, and that another connection or token can solve the problem immediately.
struct ResendPolicy: Sendable {
    /// The resends of a push so far.
    struct Tries: Sendable, Hashable {
        fileprivate(set) var resends: UInt8 = 0
        /// Whether a refused token caused a resend.
        fileprivate(set) var wasRefreshed = false
    }

    enum Action: Sendable, Hashable {
        /// The completion of the push.
        case finish
        case resend
        /// A resend if a newer provider token exists or may be signed.
        case resendWithNewToken(TokenRefusal.Kind)
    }

    /// Maximum number of resends of a push. The single resend with a new token may exceed this number.
    let resendsMax: Int

    func afterAnswer(_ verdict: AnswerVerdict, _ reason: Reason?, _ tries: Tries) -> Action {
        switch verdict.action {
        case .reconnect where mayResend(tries): .resend
        case .refresh where !tries.wasRefreshed: .resendWithNewToken(.expired)
        case .configuration where reason == .invalidProviderToken && !tries.wasRefreshed: .resendWithNewToken(.invalid)
        case .ok, .deadLetter, .prune, .suspect, .configuration, .refresh, .reconnect, .backOff: .finish
        }
    }

    /// Returns the action after a refused stream, a GOAWAY, or a refusal that was cut off. Also applies if the
    /// connection ended before the push was written.
    func afterRefusal(_ tries: Tries) -> Action {
        mayResend(tries) ? .resend : .finish
    }

    private func mayResend(_ tries: Tries) -> Bool {
        Int(tries.resends) < min(resendsMax, Int(UInt8.max))
    }
}

extension ResendPolicy.Tries {
    mutating func resent(withNewToken: Bool) {
        if resends < .max { resends += 1 }
        wasRefreshed = wasRefreshed || withNewToken
    }
}
