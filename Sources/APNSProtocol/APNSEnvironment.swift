/// One of the two environments of APNs. Device tokens and channels belong to exactly one environment. Newer keys may
/// be limited to one environment.
public enum APNSEnvironment: String, CaseIterable, Sendable, Hashable {
    case production
    case sandbox

    /// Creates the environment with this number. Returns nil for another number.
    public init?(number: Int) {
        guard let environment = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = environment
    }

    /// Index among all cases. It never changes.
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

    /// Host of broadcast sends in Apple's samples. APNs serves broadcast sends on ``pushHost``, too.
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

    /// Port of channel management, the only port that differs by environment.
    public var channelPort: UInt16 {
        switch self {
        case .production: 2196
        case .sandbox: 2195
        }
    }

    /// Port of device pushes and broadcast sends in both environments.
    public static let pushPort: UInt16 = 443

    /// Alternative to ``pushPort`` for networks that allow APNs but block other traffic on port 443.
    public static let pushPortAlternative: UInt16 = 2197

    /// Former name of the sandbox's push host, which APNs still serves.
    public static let sandboxHostAlias = "api.development.push.apple.com"
}
