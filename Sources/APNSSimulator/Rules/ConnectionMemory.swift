import APNSProtocol
import EventLoop

/// What is remembered of one connection: provider tokens that were verified on it and topics that were found allowed,
/// so that both are looked into once and not for each push.
struct ConnectionMemory {
    /// Provider tokens and topics remembered of one connection; the oldest makes room.
    static let tokensMax = 8
    static let topicsMax = 32

    struct Refusal: Error { var reason: Reason }

    private struct VerifiedToken {
        var text: [UInt8]
        var teamID: String
        var issuedAtSeconds: Int64
    }

    private struct AllowedTopic {
        var text: [UInt8]
        var pushType: PushType?
        var teamID: String?
        var bundleID: String
        var topic: String
    }

    private var tokens: [VerifiedToken] = []
    private var topics: [AllowedTopic] = []
    private var generation = -1
    /// Signatures that were checked on this connection.
    private(set) var tokensVerified = 0

    /// The team whose key signed the token of an `authorization` header, or why it is refused.
    mutating func verify(
        _ authorization: UnsafeRawBufferPointer, state: SimulatorState, now: Now, options: RuleOptions
    ) -> Result<String, Refusal> {
        forgetIfChanged(state)
        guard let text = ProviderToken.text(ofAuthorization: authorization) else {
            return .failure(Refusal(reason: .missingProviderToken))
        }
        for token in tokens where token.text.withUnsafeBytes({ $0.equals(text) }) {
            if let reason = Self.refusal(issuedAtSeconds: token.issuedAtSeconds, now: now, options: options) {
                return .failure(Refusal(reason: reason))
            }
            return .success(token.teamID)
        }
        tokensVerified += 1
        switch ProviderToken.verify(text, state: state) {
        case .failure(let refusal): return .failure(Refusal(reason: refusal.reason))
        case .success(let verified):
            if tokens.count >= Self.tokensMax { tokens.removeLast() }
            let token = VerifiedToken(
                text: Array(text), teamID: verified.teamID, issuedAtSeconds: verified.issuedAtSeconds)
            tokens.insert(token, at: 0)
            if let reason = Self.refusal(issuedAtSeconds: token.issuedAtSeconds, now: now, options: options) {
                return .failure(Refusal(reason: reason))
            }
            return .success(token.teamID)
        }
    }

    /// The app that a topic belongs to; nil when the team may not push to it, or its suffix is not the push type's.
    mutating func bundleID(
        topic: UnsafeRawBufferPointer, pushType: PushType?, teamID: String?, state: SimulatorState
    ) -> String? {
        forgetIfChanged(state)
        for known in topics
        where known.pushType == pushType && known.text.withUnsafeBytes({ $0.equals(topic) }) && known.teamID == teamID {
            return known.bundleID
        }
        // Without a push type, as old providers send, every suffix is taken.
        let pushTypes = pushType.map { [$0] } ?? PushType.allCases
        for candidate in pushTypes {
            guard let count = candidate.bundleIDByteCount(inTopic: topic) else { continue }
            let bundleID = String(decoding: topic[..<count], as: UTF8.self)
            guard teamID == nil || state.allows(teamID: teamID ?? "", bundleID: bundleID) else { continue }
            if topics.count >= Self.topicsMax { topics.removeLast() }
            let allowed = AllowedTopic(
                text: Array(topic), pushType: pushType, teamID: teamID, bundleID: bundleID,
                topic: String(decoding: topic, as: UTF8.self))
            topics.insert(allowed, at: 0)
            return bundleID
        }
        return nil
    }

    /// A topic as text; nil unless it was found allowed on this connection.
    func text(ofTopic topic: UnsafeRawBufferPointer) -> String? {
        topics.first { $0.text.withUnsafeBytes { $0.equals(topic) } }?.topic
    }

    private mutating func forgetIfChanged(_ state: SimulatorState) {
        guard generation != state.generation else { return }
        generation = state.generation
        tokens.removeAll()
        topics.removeAll()
    }

    private static func refusal(issuedAtSeconds: Int64, now: Now, options: RuleOptions) -> Reason? {
        let (age, overflows) = now.unixSeconds.subtractingReportingOverflow(issuedAtSeconds)
        if overflows || age < -options.futureTokenSecondsMax { return .invalidProviderToken }
        return age > APNSLimits.providerTokenAgeSecondsMax ? .expiredProviderToken : nil
    }
}
