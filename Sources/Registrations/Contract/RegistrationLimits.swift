/// The limits of texts in commands and in requests to users.
public enum RegistrationLimits {
    /// Maximum length of a user in bytes of UTF-8.
    public static let userBytesMax = 256
    /// Maximum length of a scope or a device ID in bytes of UTF-8.
    public static let nameBytesMax = 128
    /// The valid times of commands in UNIX milliseconds. A time in seconds is below the range, one in microseconds
    /// above it.
    public static let times: ClosedRange<Int64> = 1_000_000_000_000...9_999_999_999_999
}
