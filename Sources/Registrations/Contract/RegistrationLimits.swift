/// The limits of texts in commands and in requests to users.
public enum RegistrationLimits {
    /// Maximum length of a user in bytes of UTF-8.
    public static let userBytesMax = 256
    /// Maximum length of a scope or a device ID in bytes of UTF-8.
    public static let nameBytesMax = 128
}
