public import APNSProtocol

/// The API through which an app obtained a device token. A token is valid only for the push types of its kind.
public enum TokenKind: String, CaseIterable, Sendable, Hashable {
    /// `registerForRemoteNotifications`.
    case device
    /// `PKPushRegistry`, type `voIP`.
    case voip
    /// `PKPushRegistry`, type `complication`.
    case complication
    /// `PKPushRegistry`, type `fileProvider`.
    case fileprovider
    /// `startMonitoringLocationPushes`.
    case location
    /// `PTChannelManager`. The token is ephemeral.
    case pushtotalk
    /// `WidgetPushHandler`.
    case widgets
    /// `ControlPushHandler`. Each control has its own token.
    case controls
    /// `Activity.pushToStartTokenUpdates`.
    case liveactivityStart = "liveactivity_start"
    /// `activity.pushTokenUpdates`.
    case liveactivity

    /// The part of a request that names the scope of its tokens.
    public enum ScopeRule: Sendable, Hashable {
        /// No scope.
        case none
        /// The member `scope`.
        case inRequest
        /// `aps.attributes-type` of the payload.
        case inPayload
    }

    /// Creates the kind of the tokens to which pushes of this type go; nil for `mdm`, whose payload is specific to a
    /// device.
    ///
    /// - Parameter event: `aps.event` of the payload. Evaluated only for a Live Activity.
    public init?(_ pushType: PushType, event: @autoclosure () -> String?) {
        switch pushType {
        case .alert, .background: self = .device
        case .complication: self = .complication
        case .controls: self = .controls
        case .fileprovider: self = .fileprovider
        case .liveactivity: self = event() == "start" ? .liveactivityStart : .liveactivity
        case .location: self = .location
        case .mdm: return nil
        case .pushtotalk: self = .pushtotalk
        case .voip: self = .voip
        case .widgets: self = .widgets
        }
    }

    /// Creates the kind with this number in a store; nil if no kind has the number.
    public init?(number: Int) {
        guard let kind = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = kind
    }

    /// The number of the kind in a store. It never changes.
    public var number: Int {
        switch self {
        case .device: 0
        case .voip: 1
        case .complication: 2
        case .fileprovider: 3
        case .location: 4
        case .pushtotalk: 5
        case .widgets: 6
        case .controls: 7
        case .liveactivityStart: 8
        case .liveactivity: 9
        }
    }

    /// Whether tokens of this kind have a scope, and which part of a request names it.
    public var scopeRule: ScopeRule {
        switch self {
        case .device, .voip, .complication, .fileprovider, .location, .widgets: .none
        case .pushtotalk, .controls, .liveactivity: .inRequest
        case .liveactivityStart: .inPayload
        }
    }

    /// The name of the scope in error messages; nil for kinds without a scope.
    public var scopeMeaning: String? {
        switch self {
        case .device, .voip, .complication, .fileprovider, .location, .widgets: nil
        case .pushtotalk: "the channel"
        case .controls: "the control"
        case .liveactivityStart: "the attributes type"
        case .liveactivity: "the activity"
        }
    }

    /// The time in milliseconds after which a registration without `expires_at` expires; nil if it does not expire.
    public var lifetimeMilliseconds: Int64? {
        switch self {
        case .liveactivity: 12 * 3_600_000
        case .pushtotalk: 24 * 3_600_000
        case .device, .voip, .complication, .fileprovider, .location, .widgets, .controls, .liveactivityStart: nil
        }
    }
}
