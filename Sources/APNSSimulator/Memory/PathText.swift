import APNSProtocol

/// Paths as they may be shown.
enum PathText {
    /// Digits in a row from which on they are taken for a device token wherever they stand.
    private static let tokenDigitsMin = 16

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
        while let first = rest.first {
            let run = rest.prefix { DeviceToken.isHexDigit($0) == DeviceToken.isHexDigit(first) }
            if DeviceToken.isHexDigit(first), run.count >= tokenDigitsMin {
                shown += DeviceToken.shortened(run).utf8
            } else {
                shown += run
            }
            rest = rest[run.endIndex...]
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
