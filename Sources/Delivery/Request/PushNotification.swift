public import APNS

/// A request that holds: what a producer wants sent, read from one message and checked.
public struct PushNotification: Sendable {
    /// What goes to APNs. Its id is the notification's, the same at every try.
    public var push: APNSRequest
    /// Which of the lane's connection pools sends it.
    public var pool: Int
    /// When the device registered its token, in UNIX milliseconds: a 410 that is older does not condemn it.
    public var registeredAtMilliseconds: Int64?

    /// Whether it is too late to send it. An expiration of 0 is never late: it asks for one attempt now.
    public func isExpired(unixSeconds: Int64) -> Bool {
        push.isExpired(unixSeconds: unixSeconds)
    }
}
