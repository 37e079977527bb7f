/// Parts of request paths.
public enum RequestPath {
    /// Prefix of the path of a device push, followed by the device token in hexadecimal digits.
    public static let devicePrefix: StaticString = "/3/device/"
    /// Prefix of the path of a broadcast send, followed by the bundle ID.
    public static let broadcastPrefix: StaticString = "/4/broadcasts/apps/"
    /// Prefix of the path of channel management, followed by the bundle ID, then ``channels`` or ``allChannels``.
    public static let channelPrefix: StaticString = "/1/apps/"
    public static let channels: StaticString = "/channels"
    public static let allChannels: StaticString = "/all-channels"
}
