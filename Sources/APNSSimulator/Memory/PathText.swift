import APNSProtocol

/// What the paths of requests say, and how they may be shown.
enum PathText {
    /// Digits in a row from which on they are taken for a device token wherever they stand.
    private static let tokenDigitsMin = 16

    /// The app of a broadcast, or whose channels are managed; nil for other paths.
    static func bundleID(in path: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let rest =
            rest(of: path, behind: RequestPath.broadcastPrefix) ?? rest(of: path, behind: RequestPath.channelPrefix)
        return rest.map { UnsafeRawBufferPointer(rebasing: $0.prefix { $0 != UInt8(ascii: "/") }) }
    }

    /// What follows a prefix; nil when the path begins otherwise.
    static func rest(of path: UnsafeRawBufferPointer, behind prefix: StaticString) -> UnsafeRawBufferPointer? {
        guard path.starts(with: prefix) else { return nil }
        return UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
    }

    /// A path with device tokens shortened: what follows `/3/device/`, and what may be one in a wrong place.
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
