/// What an answer of APNs means for the message and for what is behind it: a pure table of status and reason.
///
/// Apple's "Handling notification responses from APNs" and "Handling error responses from Apple Push Notification
/// service" say what may be sent again; where they are silent, the practice of long-lived clients is followed.
public struct AnswerVerdict: Sendable, Hashable {
    /// What becomes of the message.
    public enum Action: String, CaseIterable, Sendable, Hashable {
        /// Accepted by APNs, which is not to say delivered.
        case ok
        /// Permanent for this message: never send it unchanged again.
        case deadLetter
        /// The device token is dead: tell its owner, with the timestamp as given; do not send again.
        case prune
        /// Do not send again; the device token is doubtful, but may only be of another environment or topic.
        case suspect
        /// Our configuration or credentials are wrong: stop what ``AnswerVerdict/scope`` names, keep the messages.
        case configuration
        /// Make a new provider token, open a new connection, send once more.
        case refresh
        /// Send again on another connection.
        case reconnect
        /// Transient: send again later, with growing, jittered delay.
        case backOff
    }

    /// How far the answer reaches beyond the message.
    public enum Scope: Sendable, Hashable {
        /// The message alone.
        case message
        /// The device token or channel that it was sent to.
        case target
        /// The topic; other topics of the same key go on.
        case topic
        /// The key or certificate with all of its topics.
        case credential
        /// The connection that answered.
        case connection
        /// The endpoint, or what stands between: nothing is known of the message, its key or its topic.
        case endpoint
    }

    public var action: Action
    public var scope: Scope
    /// No new request goes out on the connection that answered.
    public var replacesConnection: Bool

    init(_ action: Action, _ scope: Scope, replacesConnection: Bool = false) {
        self.action = action
        self.scope = scope
        self.replacesConnection = replacesConnection
    }

    /// The verdict on an answer. The reason decides where it is known and of the status' class (`ExpiredToken` came
    /// with 400 before it came with 410); otherwise the status does.
    ///
    /// - Parameters:
    ///   - reason: nil when the answer's body had none.
    ///   - isFromAPNS: whether APNs has spoken, and not a proxy's page or nobody: what others say condemns nothing.
    public init(status: Int, reason: Reason?, isFromAPNS: Bool = true) {
        if !isFromAPNS {
            self.init(.backOff, .endpoint)
        } else if let reason, let expected = reason.status, expected / 100 == status / 100 {
            self.init(reason)
        } else {
            self.init(status: status)
        }
    }

    /// By reason: sections "status × reason" of both of Apple's tables.
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
            // A connection that saw an expired token was reported to go on refusing good ones.
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

    /// By status alone, for answers without a reason or with one that nobody documents.
    private init(status: Int) {
        switch status {
        case 200..<300: self.init(.ok, .message)
        case 410: self.init(.prune, .target)
        case 408, 429: self.init(.backOff, .target)
        case 400..<500: self.init(.deadLetter, .message)
        // Beside 5xx nothing that APNs sends: some proxy between, so that nothing is known of the message.
        default: self.init(.backOff, .endpoint)
        }
    }
}
