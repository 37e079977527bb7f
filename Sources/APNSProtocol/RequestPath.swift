/// Beginnings of request paths.
public enum RequestPath {
    /// A device push: the device token in hexadecimal follows.
    public static let devicePrefix: StaticString = "/3/device/"
    /// A broadcast send: the bundle ID follows.
    public static let broadcastPrefix: StaticString = "/4/broadcasts/apps/"
    /// Channel management: the bundle ID follows, then ``channels`` or ``allChannels``.
    public static let channelPrefix: StaticString = "/1/apps/"
    public static let channels: StaticString = "/channels"
    public static let allChannels: StaticString = "/all-channels"
}
