import APNSProtocol

/// Functions that parse the paths of requests and shorten the device tokens in paths.
enum PathText {
    /// Minimum number of consecutive hexadecimal digits that are treated as a device token anywhere in a path.
    private static let tokenDigitsMin = 16

    /// Returns the bundle ID in a path for broadcasts or channels; nil for other paths.
    static func bundleID(in path: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let rest =
            rest(of: path, behind: RequestPath.broadcastPrefix) ?? rest(of: path, behind: RequestPath.channelPrefix)
        return rest.map { UnsafeRawBufferPointer(rebasing: $0.prefix { $0 != UInt8(ascii: "/") }) }
    }

    /// Returns the part of a path after a prefix; nil if the path does not have the prefix.
    static func rest(of path: UnsafeRawBufferPointer, behind prefix: StaticString) -> UnsafeRawBufferPointer? {
        guard path.starts(with: prefix) else { return nil }
        return UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
    }

    /// Returns a path with shortened device tokens: the segment after `/3/device/`, and any other long run of
    /// hexadecimal digits.
    static func withoutTokens(_ path: UnsafeRawBufferPointer) -> String {
        var shown: [UInt8] = []
        var rest = path[...]
        if path.starts(with: RequestPath.devicePrefix) {
            let prefix = RequestPath.devicePrefix.utf8CodeUnitCount
            shown += path[..<prefix]
            let token = path[prefix...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            if !token.isEmpty { shown += DeviceToken.shortened(token).utf8 }
            rest = path[token.endIndex...]
        }
        shown += DeviceToken.shortened(in: rest, digitsMin: tokenDigitsMin)
        return String(decoding: shown, as: UTF8.self)
    }
}
