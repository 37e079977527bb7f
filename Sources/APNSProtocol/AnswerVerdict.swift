/// The consequence of an answer of APNs, from a pure table of statuses and reasons.
///
/// Apple's "Handling notification responses from APNs" and "Handling error responses from Apple Push Notification
/// service" specify which requests may be sent again. Other cases follow the practice of established clients.
public struct AnswerVerdict: Sendable, Hashable {
    /// The handling of the request.
    public enum Action: String, CaseIterable, Sendable, Hashable {
        /// An accepted push. Acceptance does not mean that the push reached the device.
        case ok
        /// A permanent error of the request. Never send the request again unchanged.
        case deadLetter
        /// An invalid device token. Report the token with the timestamp of the answer, and do not send again.
        case prune
        /// A device token that may be invalid, or may belong to another environment or topic. Do not send again.
        case suspect
        /// A wrong configuration or credential. Stop the ``AnswerVerdict/scope``, and keep the requests.
        case configuration
        /// An expired provider token. Sign a new token, open a new connection, and send once more.
        case refresh
        /// A problem of the connection. Send again on another connection.
        case reconnect
        /// A transient error. Send again later, with exponential backoff and jitter.
        case backOff
    }

    /// The part of the system that an answer affects.
    public enum Scope: Sendable, Hashable {
        /// The request only.
        case message
        /// The device token or the channel of the request.
        case target
        /// The topic. Other topics of the same credential are not affected.
        case topic
        /// The key or certificate with all its topics.
        case credential
        /// The connection that received the answer.
        case connection
        /// The endpoint, or a proxy in front of it. The answer shows nothing about the request, its credential or its
        /// topic.
        case endpoint
    }

    public var action: Action
    public var scope: Scope
    /// Whether no new request may be sent on the connection that received the answer.
    public var replacesConnection: Bool

    init(_ action: Action, _ scope: Scope, replacesConnection: Bool = false) {
        self.action = action
        self.scope = scope
        self.replacesConnection = replacesConnection
    }

    /// Creates the verdict on an answer.
    ///
    /// If the reason is known and ``Reason/status`` has the same class (first digit) as `status`, the reason decides.
    /// Otherwise, the status decides. Classes are compared because APNs has sent `ExpiredToken` with 400 and
    /// later with 410.
    ///
    /// - Parameters:
    ///   - reason: nil if the answer contains none.
    ///   - isFromAPNS: whether APNs sent the answer. Answers of proxies must not fail a request or a credential.
    public init(status: Int, reason: Reason?, isFromAPNS: Bool = true) {
        if !isFromAPNS {
            self.init(.backOff, .endpoint)
        } else if let reason, let expected = reason.status, expected / 100 == status / 100 {
            self.init(reason)
        } else {
            self.init(status: status)
        }
    }

    /// Creates the verdict from a reason. Apple's two tables of statuses and reasons explain the documented reasons.
    private init(_ reason: Reason) {
        switch reason {
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .badTopic, .invalidPushType,
            .missingDeviceToken, .missingTopic, .payloadEmpty, .payloadTooLarge, .missingChannelID, .badChannelID,
            .badRequestParams, .badRequestPayload, .missingPushType, .missingChannelQueueSize:
            self.init(.deadLetter, .message)
        case .channelNotRegistered:
            self.init(.deadLetter, .target)
        case .duplicateHeaders, .badPath, .methodNotAllowed, .cannotCreateChannelConfig, .forbidden:
            self.init(.deadLetter, .message)
        case .expiredToken, .unregistered:
            self.init(.prune, .target)
        case .badDeviceToken, .deviceTokenNotForTopic:
            self.init(.suspect, .target)
        case .topicDisallowed, .topicMismatch, .featureNotEnabled:
            self.init(.configuration, .topic)
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .invalidProviderToken,
            .missingProviderToken:
            self.init(.configuration, .credential, replacesConnection: true)
        case .expiredProviderToken:
            // After an expired token, a connection was reported to refuse valid tokens, too.
            self.init(.refresh, .credential, replacesConnection: true)
        case .unrelatedKeyIDInToken, .idleTimeout:
            self.init(.reconnect, .connection, replacesConnection: true)
        case .tooManyRequests:
            self.init(.backOff, .target)
        case .tooManyProviderTokenUpdates:
            self.init(.backOff, .connection, replacesConnection: true)
        case .shutdown:
            self.init(.backOff, .connection, replacesConnection: true)
        case .internalServerError, .serviceUnavailable:
            self.init(.backOff, .endpoint)
        case .unknown:
            self.init(.deadLetter, .message)
        }
    }

    /// Creates the verdict from a status, for answers whose reason is missing, unknown, or documented with another
    /// class of status.
    private init(status: Int) {
        switch status {
        case 200..<300: self.init(.ok, .message)
        case 410: self.init(.prune, .target)
        case 408, 429: self.init(.backOff, .target)
        case 400..<500: self.init(.deadLetter, .message)
        // Either 5xx, or a status that APNs does not send and that may come from a proxy.
        default: self.init(.backOff, .endpoint)
        }
    }
}
