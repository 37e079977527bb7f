/// The limits of texts that commands and requests to users share.
public enum RegistrationLimits {
    /// Maximum length of a user in bytes of UTF-8.
    public static let userBytesMax = 256
    /// Maximum length of a scope or installation in bytes of UTF-8.
    public static let nameBytesMax = 128
}
