/// Limits that APNs sets (Apple, "Sending notification requests to APNs", "Sending broadcast push notification requests
/// to APNs", "Establishing a token-based connection").
public enum APNSLimits {
    /// Body of a device push, except VoIP.
    public static let payloadBytesMax = 4096
    /// Body of a VoIP push.
    public static let payloadBytesMaxVoIP = 5120
    /// Body of a broadcast send, whatever its type.
    public static let payloadBytesMaxBroadcast = 5120
    /// Value of `apns-collapse-id`, in bytes of UTF-8, not characters.
    public static let collapseIDBytesMax = 64
    /// Characters of a key id and of a team id.
    public static let keyIDBytes = 10
    /// A provider token older than this is refused with `ExpiredProviderToken`.
    public static let providerTokenAgeSecondsMax: Int64 = 3600
    /// A connection takes a new provider token no sooner than this after the one before.
    public static let providerTokenAgeSecondsMin: Int64 = 1200
    /// Channels of one app in one environment.
    public static let channelsPerAppMax = 10_000
    /// What APNs was seen to announce as SETTINGS_MAX_HEADER_LIST_SIZE.
    public static let headerListBytesMax = 8000
}
