public import APNS

/// A request that holds: what a producer wants sent, read from one message and checked.
public struct PushRequest: Sendable {
    /// What goes to APNs. Its id is the notification's, the same at every try.
    public var push: APNSRequest
    public var app: AppDirectory.Index
    public var route: Route
    /// When the device registered its token, in UNIX milliseconds: a 410 that is older does not condemn it.
    public var registeredAtMilliseconds: Int64?
}
