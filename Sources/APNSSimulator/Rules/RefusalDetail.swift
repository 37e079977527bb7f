/// The exact cause of a refusal by a fault, or of a refusal whose reason has several possible causes. The log and the
/// web page show the detail, but answers do not contain it. The detail reveals no values of the request.
public enum RefusalDetail: String, CaseIterable, Sendable {
    /// A fault that replaced the answer of the rules.
    case fault
    // Provider token
    case tokenForm = "token_form"
    case tokenAlgorithm = "token_algorithm"
    case tokenKeyID = "token_key_id"
    case tokenTeam = "token_team"
    case tokenIssuedAt = "token_issued_at"
    case tokenFuture = "token_future"
    case tokenSignature = "token_signature"
    case keyUnknown = "key_unknown"
    case keyRevoked = "key_revoked"
    case keyOfOtherTeam = "key_of_other_team"
    case keyEnvironment = "key_environment"
    case connectionOfOtherTeam = "connection_of_other_team"
    case connectionOfOtherKey = "connection_of_other_key"
    // Certificate
    case certificateUnknown = "certificate_unknown"
    case certificateOutOfDate = "certificate_out_of_date"
    // Topic
    case topicSuffix = "topic_suffix"
    case topicOfKey = "topic_of_key"
    case topicOfCertificate = "topic_of_certificate"
    case topicUnknown = "topic_unknown"
    case topicOfOtherTeam = "topic_of_other_team"
    case topicAddedLater = "topic_added_later"
    // Channel
    case channelEncoding = "channel_encoding"
    case channelLength = "channel_length"
    case channelUnknown = "channel_unknown"
    case channelOfOtherApp = "channel_of_other_app"
    case channelOfOtherEnvironment = "channel_of_other_environment"
    // Other headers and payload
    case expirationForm = "expiration_form"
    case expirationMissing = "expiration_missing"
    case expirationPast = "expiration_past"
    case expirationMilliseconds = "expiration_milliseconds"
    case expirationOfChannel = "expiration_of_channel"
    case priorityOfType = "priority_of_type"
    case locationByCertificate = "location_by_certificate"
    case payloadCompressed = "payload_compressed"
    case payloadForm = "payload_form"
    case payloadVisible = "payload_visible"
}
