import APNSProtocol
import Testing

/// The status, the reason as on the wire, and the expected action for each row of both of Apple's tables.
private let documented: [(Int, String, AnswerVerdict.Action)] = [
    // Device pushes
    (400, "BadCollapseId", .deadLetter), (400, "BadDeviceToken", .suspect), (400, "BadExpirationDate", .deadLetter),
    (400, "BadMessageId", .deadLetter), (400, "BadPriority", .deadLetter), (400, "BadTopic", .deadLetter),
    (400, "DeviceTokenNotForTopic", .suspect), (400, "DuplicateHeaders", .deadLetter), (400, "IdleTimeout", .reconnect),
    (400, "InvalidPushType", .deadLetter), (400, "MissingDeviceToken", .deadLetter),
    (400, "MissingTopic", .deadLetter), (400, "PayloadEmpty", .deadLetter), (400, "TopicDisallowed", .configuration),
    (403, "BadCertificate", .configuration), (403, "BadCertificateEnvironment", .configuration),
    (403, "ExpiredProviderToken", .refresh), (403, "Forbidden", .deadLetter),
    (403, "InvalidProviderToken", .configuration), (403, "MissingProviderToken", .configuration),
    (403, "UnrelatedKeyIdInToken", .reconnect), (403, "BadEnvironmentKeyIdInToken", .configuration),
    (403, "BadEnvironmentKeyInToken", .configuration), (404, "BadPath", .deadLetter),
    (405, "MethodNotAllowed", .deadLetter), (410, "ExpiredToken", .prune), (410, "Unregistered", .prune),
    (413, "PayloadTooLarge", .deadLetter), (429, "TooManyProviderTokenUpdates", .backOff),
    (429, "TooManyRequests", .backOff), (500, "InternalServerError", .backOff), (503, "ServiceUnavailable", .backOff),
    (503, "Shutdown", .backOff),
    // Reasons of broadcast sends and channel management only
    (400, "FeatureNotEnabled", .configuration), (400, "MissingChannelId", .deadLetter),
    (400, "BadChannelId", .deadLetter), (400, "ChannelNotRegistered", .deadLetter),
    (400, "BadRequestParams", .deadLetter), (400, "BadRequestPayload", .deadLetter),
    (400, "MissingPushType", .deadLetter), (400, "CannotCreateChannelConfig", .deadLetter),
    (400, "MissingChannelQueueSize", .deadLetter), (403, "TopicMismatch", .configuration),
    (503, "Service Unavailable", .backOff),
]

@Suite struct AnswerVerdictTests {
    @Test(arguments: documented)
    func documentedAnswer(status: Int, word: String, action: AnswerVerdict.Action) {
        let reason = withBytes(word) { Reason($0) }
        if case .unknown = reason { Issue.record("\(word) is not known") }
        #expect(reason.status == status)
        #expect(AnswerVerdict(status: status, reason: reason).action == action)
    }

    @Test func theTableAboveIsComplete() {
        let reasons = Set(documented.map { row in withBytes(row.1) { Reason($0) } })
        #expect(reasons == Set(Reason.known))
        #expect(Reason.known.count == 42)
    }

    @Test func reasonsRoundTrip() {
        let aliases = ["BadEnvironmentKeyInToken", "Service Unavailable"]
        for (_, word, _) in documented where !aliases.contains(word) {
            #expect(withBytes(word) { Reason($0) }.text == word)
        }
    }

    @Test func withoutAReasonTheStatusDecides() {
        let byStatus: [(Int, AnswerVerdict.Action)] = [
            (200, .ok), (201, .ok), (204, .ok), (400, .deadLetter), (403, .deadLetter), (404, .deadLetter),
            (408, .backOff), (410, .prune), (418, .deadLetter), (429, .backOff), (500, .backOff), (502, .backOff),
            (503, .backOff), (599, .backOff), (0, .backOff), (302, .backOff), (-7, .backOff), (Int.max, .backOff),
        ]
        for (status, action) in byStatus {
            #expect(AnswerVerdict(status: status, reason: nil).action == action, "\(status)")
            #expect(AnswerVerdict(status: status, reason: .unknown("FooBar")).action == action, "\(status)")
        }
    }

    @Test func answersOfProxiesAffectOnlyTheEndpoint() {
        for status in [201, 302, 400, 403, 404, 407, 410, 413, 429, 500, 502, 503] {
            for reason in [nil, .unknown("<html>"), .unregistered] as [Reason?] {
                let verdict = AnswerVerdict(status: status, reason: reason, isFromAPNS: false)
                #expect(verdict.action == .backOff && verdict.scope == .endpoint, "\(status)")
                #expect(!verdict.replacesConnection)
            }
        }
    }

    @Test func anUnknownRefusalAffectsOnlyTheRequest() {
        let verdict = AnswerVerdict(status: 403, reason: .unknown("FooBar"))
        #expect(verdict.action == .deadLetter && verdict.scope == .message && !verdict.replacesConnection)
    }

    @Test func aReasonOfAnotherStatusClassDoesNotDecide() {
        #expect(AnswerVerdict(status: 500, reason: .unregistered).action == .backOff)
        #expect(AnswerVerdict(status: 200, reason: .badDeviceToken).action == .ok)
        #expect(AnswerVerdict(status: 400, reason: .expiredToken).action == .prune)
    }

    // The table contains each reason that affects more than its request.
    @Test func scopesBeyondTheRequest() {
        let scopes: [AnswerVerdict.Scope: [Reason]] = [
            .target: [
                .channelNotRegistered, .expiredToken, .unregistered, .badDeviceToken, .deviceTokenNotForTopic,
                .tooManyRequests,
            ],
            .topic: [.topicDisallowed, .topicMismatch, .featureNotEnabled],
            .credential: [
                .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .invalidProviderToken,
                .missingProviderToken, .expiredProviderToken,
            ],
            .connection: [.unrelatedKeyIDInToken, .idleTimeout, .tooManyProviderTokenUpdates, .shutdown],
            .endpoint: [.internalServerError, .serviceUnavailable],
        ]
        for reason in Reason.known {
            let verdict = AnswerVerdict(status: reason.status ?? 0, reason: reason)
            #expect(verdict.scope == scopes.first { $0.value.contains(reason) }?.key ?? .message, "\(reason)")
            #expect(verdict.replacesConnection == [.credential, .connection].contains(verdict.scope), "\(reason)")
        }
        for status in [408, 429] {
            #expect(AnswerVerdict(status: status, reason: .unknown("FooBar")).scope == .target)
        }
        for status in [0, 302, 500, 502, 599] {
            #expect(AnswerVerdict(status: status, reason: .unknown("FooBar")).scope == .endpoint)
        }
    }

    @Test func unknownReasonsAreTruncatedAndPrintable() {
        #expect(withBytes("FooBar") { Reason($0) } == .unknown("FooBar"))
        #expect(withBytes("a\n\u{1B}[31mé") { Reason($0) }.text == "a??[31m??")
        #expect(withBytes(String(repeating: "x", count: 5000)) { Reason($0) }.text == String(repeating: "x", count: 64))
        #expect(withBytes("") { Reason($0) } == .unknown(""))
    }
}
