/// Names of request and response headers, in the lower case that HTTP/2 requires.
public enum HeaderName {
    public static let method: StaticString = ":method"
    public static let scheme: StaticString = ":scheme"
    public static let path: StaticString = ":path"
    public static let authority: StaticString = ":authority"
    public static let status: StaticString = ":status"
    public static let host: StaticString = "host"
    public static let authorization: StaticString = "authorization"
    public static let contentType: StaticString = "content-type"
    public static let contentEncoding: StaticString = "content-encoding"
    public static let retryAfter: StaticString = "retry-after"
    public static let apnsTopic: StaticString = "apns-topic"
    public static let apnsPushType: StaticString = "apns-push-type"
    public static let apnsID: StaticString = "apns-id"
    public static let apnsExpiration: StaticString = "apns-expiration"
    public static let apnsPriority: StaticString = "apns-priority"
    public static let apnsCollapseID: StaticString = "apns-collapse-id"
    /// A header of the sandbox's answers to device pushes, and of answers to broadcasts.
    public static let apnsUniqueID: StaticString = "apns-unique-id"
    /// A header of broadcast sends and channel management only.
    public static let apnsChannelID: StaticString = "apns-channel-id"
    /// The counterpart of `apns-id` in broadcast sends and channel management.
    public static let apnsRequestID: StaticString = "apns-request-id"
}
