public import APNS

/// A valid request, read from one delivery.
public struct PushRequest: Sendable {
    /// The HTTP request to APNs. Its id is the id of the notification request, the same at each attempt.
    public var push: APNSRequest
    public var app: AppDirectory.Index
    public var route: Route
    /// The time at which the device registered its token, in UNIX milliseconds; nil if unknown. A 410 answer with an
    /// older timestamp does not invalidate the token.
    public var registeredAtMilliseconds: Int64?
}
