/// Limits of APNs (Apple, "Sending notification requests to APNs", "Sending broadcast push notification requests to
/// APNs", "Establishing a token-based connection").
public enum APNSLimits {
    /// Maximum size of a device push's body, except for VoIP.
    public static let payloadBytesMax = 4096
    /// Maximum size of a VoIP push's body.
    public static let payloadBytesMaxVoIP = 5120
    /// Maximum size of a broadcast's body.
    public static let payloadBytesMaxBroadcast = 5120
    /// Maximum length of `apns-collapse-id`, in bytes of UTF-8.
    public static let collapseIDBytesMax = 64
    /// Length of a key ID and of a team ID.
    public static let keyIDBytes = 10
    /// Age above which APNs refuses a provider token with `ExpiredProviderToken`.
    public static let providerTokenAgeSecondsMax: Int64 = 3600
    /// Minimum time between two provider tokens on a connection.
    public static let providerTokenAgeSecondsMin: Int64 = 1200
    /// Maximum number of channels of one app in one environment.
    public static let channelsPerAppMax = 10_000
    /// SETTINGS_MAX_HEADER_LIST_SIZE of APNs, as observed.
    public static let headerListBytesMax = 8000
}
