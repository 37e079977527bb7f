import APNSProtocol
import EventLoop

/// What is remembered of one connection: who its client is, provider tokens that were verified on it and topics that were
/// found allowed, so that these are looked into once and not for each push.
struct ConnectionMemory {
    /// Provider tokens and topics remembered of one connection; the oldest makes room.
    static let tokensMax = 8
    static let topicsMax = 32

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
        var sender: Sender
        var bundleID: String
    }

    /// What the connection's listener serves.
    let service: Service
    /// What the client has shown within TLS; nil when it has shown none.
    private(set) var presented: PresentedCertificate?
    private let signatures: VerifiedSignatures
    private var binding = ConnectionBinding()
    /// By the key's id, or by no id when those of all keys count together.
    private var updates: [String: TokenUpdateLimit] = [:]
    private var tokens: [VerifiedToken] = []
    private var topics: [AllowedTopic] = []
    /// The state's generation that the topics belong to.
    private var topicsGeneration = -1
    /// Signatures that were checked on this connection.
    private(set) var tokensVerified = 0

    /// The key of its first push with a valid token.
    var boundKey: RegisteredKey? { binding.firstKey }

    init(service: Service = .sandboxPush, signatures: VerifiedSignatures = VerifiedSignatures()) {
        self.service = service
        self.signatures = signatures
    }

    /// The client has shown a certificate: from now on it is known by that, and its provider tokens are not looked at
    /// (Apple, "Sending notification requests to APNs").
    mutating func present(_ certificate: PushCertificate) {
        presented = PresentedCertificate(certificate)
    }

    /// What there is against the client's certificate; nil also without one.
    func certificateFault(state: SimulatorState, now: Now) -> Refusal? {
        guard let certificate = presented?.certificate else { return nil }
        guard state.knowsCertificate(SHA256Value(digest: certificate.sha256)) else {
            return Refusal(reason: .badCertificate, detail: .certificateUnknown)
        }
        guard certificate.validSeconds.contains(now.unixSeconds) else {
            return Refusal(reason: .badCertificate, detail: .certificateOutOfDate)
        }
        guard !certificate.environments.contains(service.environment) else { return nil }
        return Refusal(reason: .badCertificateEnvironment)
    }

    /// Whom a request comes from.
    ///
    /// - Throws: why its certificate or provider token is refused, or that it has neither.
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
            guard service.kind == .channelManagement, !state.rules.channelsTellKeyFaults,
                [state.rules.keyEnvironmentReason, .unrelatedKeyIDInToken].contains(error.reason)
            else { throw error }
            throw Refusal(reason: .invalidProviderToken, detail: error.detail)
        }
    }

    /// The id of the key that signed a token.
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

    /// The app that a topic belongs to.
    ///
    /// - Throws: when the sender may not push to it, or its suffix is not the push type's.
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
        // Without a push type, as old providers send, every suffix is taken.
        let pushTypes = pushType.map { [$0] } ?? TopicSuffix.mostSpecificFirst
        var obstacle: RefusalDetail?
        for candidate in pushTypes {
            guard let count = candidate.bundleIDByteCount(inTopic: topic) else { continue }
            let bundleID = String(decoding: topic[..<count], as: UTF8.self)
            // A topic of another type is no bundle ID, unless there is an app of that name.
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

    /// Why a sender may not push to a topic of an app; nil when it may.
    private func obstacle(
        to sender: Sender, topic: UnsafeRawBufferPointer, bundleID: String, state: SimulatorState
    ) -> RefusalDetail? {
        // Tokens cover every topic of an app, certificates those that they list.
        guard sender == .certificate else { return obstacle(to: sender, bundleID: bundleID, state: state) }
        return presented?.certificate.topics.contains { $0.utf8.elementsEqual(topic) } ?? false
            ? nil : .topicOfCertificate
    }

    /// Why a sender may not do anything with an app; nil when it may.
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
