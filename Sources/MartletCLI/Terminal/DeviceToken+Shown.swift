import APNSProtocol

extension DeviceToken {
    /// So many hexadecimal digits in a row may be a device token. A UUID has twelve.
    private static let digitsMin = 32

    /// The text of others, with all that may be a device token shortened.
    static func shortened(in text: some Collection<UInt8>) -> [UInt8] { shortened(in: text, digitsMin: digitsMin) }
}
