/// The reason for which APNs refused a request, as in `reason` of an answer's body or of the debug data of a GOAWAY.
///
/// Contains the reasons of Apple's tables for device pushes and for broadcasts, and undocumented reasons observed on
/// the wire.
public enum Reason: Sendable, Hashable {
    case badCertificate
    case badCertificateEnvironment
    case badChannelID
    case badCollapseID
    case badDeviceToken
    /// A reason with the documented spelling `BadEnvironmentKeyIdInToken`, and the observed one
    /// `BadEnvironmentKeyInToken`.
    case badEnvironmentKeyIDInToken
    case badExpirationDate
    case badMessageID
    case badPath
    case badPriority
    case badRequestParams
    case badRequestPayload
    case badTopic
    case cannotCreateChannelConfig
    case channelNotRegistered
    case deviceTokenNotForTopic
    case duplicateHeaders
    case expiredProviderToken
    case expiredToken
    case featureNotEnabled
    case forbidden
    case idleTimeout
    case internalServerError
    case invalidProviderToken
    case invalidPushType
    case methodNotAllowed
    case missingChannelID
    /// An undocumented reason, observed when a channel is created without a valid storage policy.
    case missingChannelQueueSize
    case missingDeviceToken
    case missingProviderToken
    case missingPushType
    case missingTopic
    case payloadEmpty
    case payloadTooLarge
    /// A reason with two spellings, with and without a space.
    case serviceUnavailable
    case shutdown
    case tooManyProviderTokenUpdates
    case tooManyRequests
    case topicDisallowed
    case topicMismatch
    case unregistered
    case unrelatedKeyIDInToken
    /// Another reason, converted to printable ASCII and truncated to ``textBytesMax``.
    case unknown(String)

    /// Maximum length of an unknown reason.
    public static let textBytesMax = 64

    /// Parses a reason. Known reasons need no allocation.
    public init(_ bytes: UnsafeRawBufferPointer) {
        for reason in Self.known where bytes.equals(reason.knownText) {
            self = reason
            return
        }
        if bytes.equals("BadEnvironmentKeyInToken") {
            self = .badEnvironmentKeyIDInToken
        } else if bytes.equals("Service Unavailable") {
            self = .serviceUnavailable
        } else {
            let printable = bytes.prefix(Self.textBytesMax).map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: "?") }
            self = .unknown(String(decoding: printable, as: UTF8.self))
        }
    }

    /// The reason as text, which is ``knownText`` or the text of ``unknown(_:)``.
    public var text: String {
        if case .unknown(let text) = self { text } else { knownText.description }
    }

    /// All reasons except ``unknown(_:)``.
    public static let known: [Reason] = [
        .badCertificate, .badCertificateEnvironment, .badChannelID, .badCollapseID, .badDeviceToken,
        .badEnvironmentKeyIDInToken, .badExpirationDate, .badMessageID, .badPath, .badPriority, .badRequestParams,
        .badRequestPayload, .badTopic, .cannotCreateChannelConfig, .channelNotRegistered, .deviceTokenNotForTopic,
        .duplicateHeaders, .expiredProviderToken, .expiredToken, .featureNotEnabled, .forbidden, .idleTimeout,
        .internalServerError, .invalidProviderToken, .invalidPushType, .methodNotAllowed, .missingChannelID,
        .missingChannelQueueSize, .missingDeviceToken, .missingProviderToken, .missingPushType, .missingTopic,
        .payloadEmpty, .payloadTooLarge, .serviceUnavailable, .shutdown, .tooManyProviderTokenUpdates, .tooManyRequests,
        .topicDisallowed, .topicMismatch, .unregistered, .unrelatedKeyIDInToken,
    ]

    /// The documented spelling, or the observed spelling of an undocumented reason; empty for ``unknown(_:)``.
    public var knownText: StaticString {
        switch self {
        case .badCertificate: "BadCertificate"
        case .badCertificateEnvironment: "BadCertificateEnvironment"
        case .badChannelID: "BadChannelId"
        case .badCollapseID: "BadCollapseId"
        case .badDeviceToken: "BadDeviceToken"
        case .badEnvironmentKeyIDInToken: "BadEnvironmentKeyIdInToken"
        case .badExpirationDate: "BadExpirationDate"
        case .badMessageID: "BadMessageId"
        case .badPath: "BadPath"
        case .badPriority: "BadPriority"
        case .badRequestParams: "BadRequestParams"
        case .badRequestPayload: "BadRequestPayload"
        case .badTopic: "BadTopic"
        case .cannotCreateChannelConfig: "CannotCreateChannelConfig"
        case .channelNotRegistered: "ChannelNotRegistered"
        case .deviceTokenNotForTopic: "DeviceTokenNotForTopic"
        case .duplicateHeaders: "DuplicateHeaders"
        case .expiredProviderToken: "ExpiredProviderToken"
        case .expiredToken: "ExpiredToken"
        case .featureNotEnabled: "FeatureNotEnabled"
        case .forbidden: "Forbidden"
        case .idleTimeout: "IdleTimeout"
        case .internalServerError: "InternalServerError"
        case .invalidProviderToken: "InvalidProviderToken"
        case .invalidPushType: "InvalidPushType"
        case .methodNotAllowed: "MethodNotAllowed"
        case .missingChannelID: "MissingChannelId"
        case .missingChannelQueueSize: "MissingChannelQueueSize"
        case .missingDeviceToken: "MissingDeviceToken"
        case .missingProviderToken: "MissingProviderToken"
        case .missingPushType: "MissingPushType"
        case .missingTopic: "MissingTopic"
        case .payloadEmpty: "PayloadEmpty"
        case .payloadTooLarge: "PayloadTooLarge"
        case .serviceUnavailable: "ServiceUnavailable"
        case .shutdown: "Shutdown"
        case .tooManyProviderTokenUpdates: "TooManyProviderTokenUpdates"
        case .tooManyRequests: "TooManyRequests"
        case .topicDisallowed: "TopicDisallowed"
        case .topicMismatch: "TopicMismatch"
        case .unregistered: "Unregistered"
        case .unrelatedKeyIDInToken: "UnrelatedKeyIdInToken"
        case .unknown: ""
        }
    }

    /// The documented status of this reason, or the observed status of an undocumented reason; nil for ``unknown(_:)``.
    public var status: Int? {
        switch self {
        case .badChannelID, .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority,
            .badRequestParams, .badRequestPayload, .badTopic, .cannotCreateChannelConfig, .channelNotRegistered,
            .deviceTokenNotForTopic, .duplicateHeaders, .featureNotEnabled, .idleTimeout, .invalidPushType,
            .missingChannelID, .missingChannelQueueSize, .missingDeviceToken, .missingPushType, .missingTopic,
            .payloadEmpty, .topicDisallowed:
            400
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .expiredProviderToken,
            .forbidden, .invalidProviderToken, .missingProviderToken, .topicMismatch, .unrelatedKeyIDInToken:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        case .unknown: nil
        }
    }
}
