import APNSProtocol
import EventLoop

/// The authentication state of one connection: its certificate, its binding and its limits on new provider tokens. Also
/// contains caches of verified provider tokens and allowed topics. The caches avoid repeating the checks for each push.
struct ConnectionMemory {
    /// Maximum number of cached provider tokens. A new token replaces the oldest.
    static let tokensMax = 8
    /// Maximum number of cached topics. A new topic replaces the oldest.
    static let topicsMax = 32

    private struct VerifiedToken {
        var text: [UInt8]
        var keyID: String
        var issuedAtSeconds: Int64
        /// The state's generation at verification. In another generation, the token is verified again.
        var generation: Int
    }

    private struct AllowedTopic {
        var text: [UInt8]
        var pushType: PushType?
        var sender: Sender
        var bundleID: String
    }

    /// The service of the connection's listener.
    let service: Service
    /// The certificate that the client presented; nil if the client presented none.
    private(set) var presented: PresentedCertificate?
    private let signatures: VerifiedSignatures
    private var binding = ConnectionBinding()
    /// Limits on new provider tokens, by key ID. The empty ID has the limit for all keys together.
    private var updates: [String: TokenUpdateLimit] = [:]
    private var tokens: [VerifiedToken] = []
    private var topics: [AllowedTopic] = []
    /// The state's generation when the cached topics were checked.
    private var topicsGeneration = -1
    /// Number of verifications of tokens on this connection, including failed ones.
    private(set) var tokensVerified = 0

    /// The key of the connection's first request with a valid token; nil before that request.
    var boundKey: RegisteredKey? { binding.firstKey }

    init(service: Service = .sandboxPush, signatures: VerifiedSignatures = VerifiedSignatures()) {
        self.service = service
        self.signatures = signatures
    }

    /// Stores the client's certificate. The certificate authenticates the client from now on, and provider tokens are
    /// ignored (Apple, "Sending notification requests to APNs").
    mutating func present(_ certificate: PushCertificate) {
        presented = PresentedCertificate(certificate)
    }

    /// Returns the refusal of the client's certificate; nil if the certificate is valid or missing.
    func certificateFault(state: SimulatorState, now: Now) -> Refusal? {
        guard let certificate = presented?.certificate else { return nil }
        guard state.acceptsCertificate(SHA256Value(digest: certificate.sha256)) else {
            return Refusal(reason: .badCertificate, detail: .certificateUnknown)
        }
        guard certificate.validSeconds.contains(now.unixSeconds) else {
            return Refusal(reason: .badCertificate, detail: .certificateOutOfDate)
        }
        guard !certificate.environments.contains(service.environment) else { return nil }
        return Refusal(reason: .badCertificateEnvironment)
    }

    /// Authenticates a request and returns its sender.
    ///
    /// - Throws: the refusal of the certificate or provider token, or of a request that has neither.
    mutating func sender(of request: Request, state: SimulatorState, now: Now) throws(Refusal) -> Sender {
        guard presented == nil else {
            if let refusal = certificateFault(state: state, now: now) { throw refusal }
            return .certificate
        }
        guard let authorization = request[.authorization] else {
            if state.rules.servesWithoutToken { return .anyone }
            throw Refusal(reason: .missingProviderToken)
        }
        guard let text = ReceivedProviderToken.text(ofAuthorization: authorization) else {
            throw Refusal(reason: .missingProviderToken)
        }
        do throws(Refusal) {
            return .key(id: try keyID(ofToken: text, state: state, now: now))
        } catch {
            guard service.kind == .channelManagement, !state.rules.channelsReportKeyFaults,
                [state.rules.keyEnvironmentReason, .unrelatedKeyIDInToken].contains(error.reason)
            else { throw error }
            throw Refusal(reason: .invalidProviderToken, detail: error.detail)
        }
    }

    /// Verifies a token and returns the ID of its key. The first valid token binds the connection. The limit on new
    /// tokens applies to tokens that are not cached.
    private mutating func keyID(
        ofToken text: UnsafeRawBufferPointer, state: SimulatorState, now: Now
    ) throws(Refusal) -> String {
        let known = tokens.firstIndex { $0.text.withUnsafeBytes { $0.equals(text) } }
        if let known, tokens[known].generation == state.generation {
            try Self.checkAge(issuedAtSeconds: tokens[known].issuedAtSeconds, state: state, now: now)
            return tokens[known].keyID
        }
        tokensVerified += 1
        let token = try ReceivedProviderToken.verify(
            text, in: service.environment, state: state, signatures: signatures)
        try Self.checkAge(issuedAtSeconds: token.issuedAtSeconds, state: state, now: now)
        try binding.admit(token.key, generation: state.generation, options: state.rules)
        let counted = state.rules.countsTokenUpdatesPerKey ? token.key.id : ""
        if known == nil,
            !updates[counted, default: TokenUpdateLimit()].admitsNewToken(
                at: now.monotonic, mode: state.rules.tokenUpdates)
        {
            throw Refusal(reason: .tooManyProviderTokenUpdates)
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
        return token.key.id
    }

    private static func checkAge(issuedAtSeconds: Int64, state: SimulatorState, now: Now) throws(Refusal) {
        let (age, overflows) = now.unixSeconds.subtractingReportingOverflow(issuedAtSeconds)
        if overflows || age < -Int64(state.rules.futureTokenSecondsMax) {
            throw Refusal(reason: state.rules.futureTokenReason, detail: .tokenFuture)
        }
        if age > Int64(state.rules.tokenAgeSecondsMax) { throw Refusal(reason: .expiredProviderToken) }
    }

    /// Returns the bundle ID of a topic.
    ///
    /// - Throws: a refusal if the sender may not push to the topic, or the topic's suffix does not match the push type.
    mutating func bundleID(
        topic: UnsafeRawBufferPointer, pushType: PushType?, sender: Sender, state: SimulatorState
    ) throws(Refusal) -> String {
        if topicsGeneration != state.generation {
            topicsGeneration = state.generation
            topics.removeAll()
        }
        for known in topics
        where known.pushType == pushType && known.text.withUnsafeBytes({ $0.equals(topic) }) && known.sender == sender {
            return known.bundleID
        }
        // Old providers send no push type. All suffixes are then valid.
        let pushTypes = pushType.map { [$0] } ?? TopicSuffix.mostSpecificFirst
        var obstacle: RefusalDetail?
        for candidate in pushTypes {
            guard let count = candidate.bundleIDByteCount(inTopic: topic) else { continue }
            let bundleID = String(decoding: topic[..<count], as: UTF8.self)
            // A topic with the suffix of another type is not a bundle ID, unless an app has this name.
            guard count < topic.count || !TopicSuffix.ends(topic) || state.app(bundleID: bundleID) != nil else {
                continue
            }
            obstacle = self.obstacle(to: sender, topic: topic, bundleID: bundleID, state: state)
            guard obstacle == nil else { continue }
            if topics.count >= Self.topicsMax { topics.removeLast() }
            let allowed = AllowedTopic(
                text: Array(topic), pushType: pushType, sender: sender, bundleID: bundleID)
            topics.insert(allowed, at: 0)
            return bundleID
        }
        guard let obstacle else { throw Refusal(reason: state.rules.wrongSuffixReason, detail: .topicSuffix) }
        throw Refusal(reason: state.rules.foreignTopicReason, detail: obstacle)
    }

    /// Returns the reason why a sender may not push to a topic of an app; nil if the sender may.
    private func obstacle(
        to sender: Sender, topic: UnsafeRawBufferPointer, bundleID: String, state: SimulatorState
    ) -> RefusalDetail? {
        // A token covers every topic of an app. A certificate covers only the topics that it lists.
        guard sender == .certificate else { return obstacle(to: sender, bundleID: bundleID, state: state) }
        return presented?.certificate.topics.contains { $0.utf8.elementsEqual(topic) } ?? false
            ? nil : .topicOfCertificate
    }

    /// Returns the reason why a sender may not use an app; nil if the sender may.
    func obstacle(to sender: Sender, bundleID: String, state: SimulatorState) -> RefusalDetail? {
        switch sender {
        case .anyone: return nil
        case .certificate:
            return presented?.certificate.topics.contains(bundleID) ?? false ? nil : .topicOfCertificate
        case .key(let id):
            guard let key = state.key(id: id), key.covers(bundleID: bundleID) else { return .topicOfKey }
            guard !state.allows(teamID: key.teamID, bundleID: bundleID, sinceGeneration: binding.generation) else {
                return nil
            }
            guard let app = state.app(bundleID: bundleID) else { return .topicUnknown }
            return app.teamID == key.teamID ? .topicAddedLater : .topicOfOtherTeam
        }
    }
}
