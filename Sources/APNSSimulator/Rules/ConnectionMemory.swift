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
        var keyID: String
        var issuedAtSeconds: Int64
        /// The state's generation in which it was verified; in another it is verified again.
        var generation: Int
    }

    private struct AllowedTopic {
        var text: [UInt8]
        var pushType: PushType?
        var keyID: String?
        var bundleID: String
        var topic: String
    }

    /// What the connection's listener serves.
    let service: Service
    private var binding = ConnectionBinding()
    private var updates = TokenUpdateLimit()
    private var tokens: [VerifiedToken] = []
    private var topics: [AllowedTopic] = []
    /// The state's generation that the topics belong to.
    private var topicsGeneration = -1
    /// Signatures that were checked on this connection.
    private(set) var tokensVerified = 0

    init(service: Service = .sandboxPush) {
        self.service = service
    }

    /// The id of the key that signed the token of an `authorization` header, or why it is refused.
    mutating func verify(
        _ authorization: UnsafeRawBufferPointer, state: SimulatorState, now: Now, options: RuleOptions
    ) -> Result<String, Refusal> {
        guard let text = ReceivedProviderToken.text(ofAuthorization: authorization) else {
            return .failure(Refusal(reason: .missingProviderToken))
        }
        let known = tokens.firstIndex { $0.text.withUnsafeBytes { $0.equals(text) } }
        if let known, tokens[known].generation == state.generation {
            if let reason = Self.refusal(issuedAtSeconds: tokens[known].issuedAtSeconds, now: now, options: options) {
                return .failure(Refusal(reason: reason))
            }
            return .success(tokens[known].keyID)
        }
        tokensVerified += 1
        switch ReceivedProviderToken.verify(text, in: service.environment, state: state) {
        case .failure(let refusal): return .failure(Refusal(reason: refusal.reason))
        case .success(let token):
            if let reason = admit(token, isNew: known == nil, state: state, now: now, options: options) {
                return .failure(Refusal(reason: reason))
            }
            if let known {
                tokens.remove(at: known)
            } else if tokens.count >= Self.tokensMax {
                tokens.removeLast()
            }
            let verified = VerifiedToken(
                text: Array(text), keyID: token.key.id, issuedAtSeconds: token.issuedAtSeconds,
                generation: state.generation)
            tokens.insert(verified, at: 0)
            return .success(token.key.id)
        }
    }

    /// What there is against a token whose signature is good.
    private mutating func admit(
        _ token: ReceivedProviderToken, isNew: Bool, state: SimulatorState, now: Now, options: RuleOptions
    ) -> Reason? {
        if let reason = Self.refusal(issuedAtSeconds: token.issuedAtSeconds, now: now, options: options) {
            return reason
        }
        if let reason = binding.admit(token.key, generation: state.generation, options: options) { return reason }
        guard isNew, !updates.admitsNewToken(at: now.monotonic, mode: options.tokenUpdates) else { return nil }
        return .tooManyProviderTokenUpdates
    }

    /// The app that a topic belongs to; nil when the key may not push to it, or its suffix is not the push type's.
    ///
    /// - Parameter keyID: nil when no token was asked for.
    mutating func bundleID(
        topic: UnsafeRawBufferPointer, pushType: PushType?, keyID: String?, state: SimulatorState
    ) -> String? {
        if topicsGeneration != state.generation {
            topicsGeneration = state.generation
            topics.removeAll()
        }
        for known in topics
        where known.pushType == pushType && known.text.withUnsafeBytes({ $0.equals(topic) }) && known.keyID == keyID {
            return known.bundleID
        }
        // Without a push type, as old providers send, every suffix is taken.
        let pushTypes = pushType.map { [$0] } ?? PushType.allCases
        for candidate in pushTypes {
            guard let count = candidate.bundleIDByteCount(inTopic: topic) else { continue }
            let bundleID = String(decoding: topic[..<count], as: UTF8.self)
            guard allows(keyID: keyID, bundleID: bundleID, state: state) else { continue }
            if topics.count >= Self.topicsMax { topics.removeLast() }
            let allowed = AllowedTopic(
                text: Array(topic), pushType: pushType, keyID: keyID, bundleID: bundleID,
                topic: String(decoding: topic, as: UTF8.self))
            topics.insert(allowed, at: 0)
            return bundleID
        }
        return nil
    }

    private func allows(keyID: String?, bundleID: String, state: SimulatorState) -> Bool {
        guard let keyID else { return true }
        guard let key = state.key(id: keyID), key.covers(bundleID: bundleID) else { return false }
        return state.allows(teamID: key.teamID, bundleID: bundleID, sinceGeneration: binding.generation)
    }

    /// A topic as text; nil unless it was found allowed on this connection.
    func text(ofTopic topic: UnsafeRawBufferPointer) -> String? {
        topics.first { $0.text.withUnsafeBytes { $0.equals(topic) } }?.topic
    }

    private static func refusal(issuedAtSeconds: Int64, now: Now, options: RuleOptions) -> Reason? {
        let (age, overflows) = now.unixSeconds.subtractingReportingOverflow(issuedAtSeconds)
        if overflows || age < -options.futureTokenSecondsMax { return .invalidProviderToken }
        return age > APNSLimits.providerTokenAgeSecondsMax ? .expiredProviderToken : nil
    }
}
