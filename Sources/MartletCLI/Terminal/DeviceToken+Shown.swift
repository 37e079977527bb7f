import APNSProtocol

extension DeviceToken {
    /// Minimum length of a sequence of hexadecimal digits that may be a device token. A UUID has at most twelve
    /// digits in a row.
    private static let digitsMin = 32

    /// Returns the text, in which every possible device token is shortened.
    static func shortened(in text: some Collection<UInt8>) -> [UInt8] { shortened(in: text, digitsMin: digitsMin) }
}
