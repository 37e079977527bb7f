/// One of the two worlds of APNs. Device tokens, channels and (newer) keys belong to exactly one of them.
public enum APNSEnvironment: String, CaseIterable, Sendable, Hashable {
    case production
    case sandbox

    /// Its place among all.
    public var number: Int {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    /// Host of device pushes and of broadcast sends (Apple, "Sending notification requests to APNs").
    public var pushHost: String {
        switch self {
        case .production: "api.push.apple.com"
        case .sandbox: "api.sandbox.push.apple.com"
        }
    }

    /// Second host name that Apple's samples print for broadcast sends; both names are served.
    public var broadcastHost: String {
        switch self {
        case .production: "api-broadcast.push.apple.com"
        case .sandbox: "api-broadcast.sandbox.push.apple.com"
        }
    }

    /// Host of channel management (Apple, "Sending channel management requests to APNs").
    public var channelHost: String {
        switch self {
        case .production: "api-manage-broadcast.push.apple.com"
        case .sandbox: "api-manage-broadcast.sandbox.push.apple.com"
        }
    }

    /// The only port that differs by environment.
    public var channelPort: UInt16 {
        switch self {
        case .production: 2196
        case .sandbox: 2195
        }
    }

    /// Port of device pushes and broadcast sends in both environments.
    public static let pushPort: UInt16 = 443

    /// The same service for networks that let APNs pass but nothing else on 443.
    public static let pushPortAlternative: UInt16 = 2197

    /// An old name of the sandbox's push host which still answers.
    public static let sandboxHostAlias = "api.development.push.apple.com"
}
