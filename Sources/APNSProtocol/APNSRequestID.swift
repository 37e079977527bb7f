/// The form of `apns-id` and `apns-request-id`.
public enum APNSRequestID {
    /// Length of an ID in bytes.
    public static let byteCount = 36

    /// Returns whether the bytes are a UUID in the form 8-4-4-4-12, in hexadecimal digits of either case.
    @inlinable public static func isWellFormed(_ bytes: some Collection<UInt8>) -> Bool {
        guard bytes.count == byteCount else { return false }
        var position = 0
        for byte in bytes {
            switch position {
            case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
            default: guard DeviceToken.isHexDigit(byte) else { return false }
            }
            position += 1
        }
        return true
    }
}
