import APNSProtocol

extension Reason {
    /// The meaning and remedy of a refusal, for operators and for the developers of producers; nil for an unknown
    /// reason.
    var explanation: StaticString? {
        switch self {
        case .badCertificate:
            "APNs does not accept the certificate: create a new certificate in Apple's developer account."
        case .badCertificateEnvironment:
            "The certificate is for the other environment: configure a certificate for this environment."
        case .badChannelID: "The channel ID is malformed: use the channel_id that APNs returned."
        case .badCollapseID: "The collapse ID is too long: shorten collapse_id to 64 bytes."
        case .badDeviceToken:
            "The device token is malformed or belongs to the other environment: set environment, or remove the token."
        case .badEnvironmentKeyIDInToken:
            "The key is not for this environment: under apns.keys, correct environments, or use another key."
        case .badExpirationDate:
            "The expiration is not accepted: use UNIX seconds; a channel that stores nothing accepts 0 only."
        case .badMessageID: "The id is not a UUID: correct id."
        case .badPath: "APNs does not know this path: check whether a proxy changes requests."
        case .badPriority: "The priority is not accepted for this push type: use 5 for background, else 1, 5 or 10."
        case .badRequestParams: "The request has wrong parameters: compare the request with the notification schema."
        case .badRequestPayload: "The payload is not accepted: send a JSON object."
        case .badTopic: "The topic is not valid: correct app to the bundle ID, without a suffix."
        case .cannotCreateChannelConfig: "The app has as many channels as APNs allows: delete unused channels."
        case .channelNotRegistered: "The channel does not exist: create the channel, or remove the channel ID."
        case .deviceTokenNotForTopic:
            "The device token belongs to another app: send the request with the bundle ID of that app, or remove the token."
        case .duplicateHeaders: "A header was sent twice: check whether a proxy changes requests."
        case .expiredProviderToken: "The provider token is too old: set the clock of the worker's machine by NTP."
        case .expiredToken:
            "The device token has expired: remove the token, and use the next token that the app receives."
        case .featureNotEnabled:
            "Broadcasts are not enabled for the app: enable the capability at its identifier in Apple's developer account."
        case .forbidden: "APNs refuses the credential for this action: check the key in Apple's developer account."
        case .idleTimeout: "The connection was idle for too long: send the request again."
        case .internalServerError:
            "APNs failed: check https://developer.apple.com/system-status, and send the request again later."
        case .invalidProviderToken:
            "APNs does not accept the provider token: check key_id, team_id and key file, and whether the key was revoked."
        case .invalidPushType: "APNs does not accept the push type of this request: correct push_type."
        case .methodNotAllowed: "APNs does not allow this method: check whether a proxy changes requests."
        case .missingChannelID: "The channel ID is missing: set channel_id."
        case .missingChannelQueueSize: "The storage policy of the channel is missing: set storage_policy."
        case .missingDeviceToken: "The device token is missing: set device_token."
        case .missingProviderToken: "No provider token or certificate arrived: check whether a proxy changes requests."
        case .missingPushType: "The push type is missing: set push_type."
        case .missingTopic: "The topic is missing: set app to the bundle ID."
        case .payloadEmpty: "The payload is empty: send a payload with aps."
        case .payloadTooLarge:
            "The payload is too large: shorten the payload to 4096 bytes (voip and broadcasts: 5120)."
        case .serviceUnavailable:
            "APNs is unavailable: check https://developer.apple.com/system-status, and send the request again later."
        case .shutdown: "APNs shut the connection down: send the request again."
        case .tooManyProviderTokenUpdates:
            "The provider token of the key changed too often: use a separate key for each sender, and wait 20 minutes."
        case .tooManyRequests: "The device received too many requests: send fewer requests to the same device token."
        case .topicDisallowed:
            "Pushes to this topic are not allowed: check that the app belongs to the key's team and has push enabled."
        case .topicMismatch: "The certificate is not for this topic: configure the certificate of this app."
        case .unregistered: "The device token is no longer active: remove the token."
        case .unrelatedKeyIDInToken:
            "The key and earlier tokens of the connection belong to different teams: check key_id and team_id."
        case .unknown: nil
        }
    }
}
