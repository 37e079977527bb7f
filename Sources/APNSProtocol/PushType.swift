/// Value of the `apns-push-type` header (Apple, "Sending notification requests to APNs", and the articles on
/// ActivityKit, WidgetKit, controls and Push to Talk).
public enum PushType: String, CaseIterable, Sendable, Hashable {
    case alert
    case background
    case complication
    case controls
    case fileprovider
    case liveactivity
    case location
    case mdm
    case pushtotalk
    case voip
    case widgets

    /// Parses the header's value, case-sensitively. Returns nil for a text that is not a known push type.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        for type in Self.allCases where bytes.equals(type.wireText) {
            self = type
            return
        }
        return nil
    }

    /// The header's value.
    public var wireText: StaticString {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .complication: "complication"
        case .controls: "controls"
        case .fileprovider: "fileprovider"
        case .liveactivity: "liveactivity"
        case .location: "location"
        case .mdm: "mdm"
        case .pushtotalk: "pushtotalk"
        case .voip: "voip"
        case .widgets: "widgets"
        }
    }

    /// Suffix that follows the bundle ID in `apns-topic`. Empty if the topic is the bundle ID. For `mdm`, the UID of
    /// the MDM certificate replaces the bundle ID.
    public var topicSuffix: StaticString {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// Returns the value of `apns-topic` for pushes of this type to an app.
    public func topic(bundleID: some Sequence<UInt8>) -> [UInt8] {
        var topic = [UInt8](bundleID)
        topic.append(contentsOf: topicSuffix.bytes)
        return topic
    }

    /// Returns the length of the bundle ID at the start of a topic of this type. Returns nil if the suffix is missing
    /// or the bundle ID is empty.
    public func bundleIDByteCount(inTopic topic: UnsafeRawBufferPointer) -> Int? {
        let suffix = topicSuffix.bytes
        let count = topic.count - suffix.count
        guard count > 0, UnsafeRawBufferPointer(rebasing: topic[count...]).equals(topicSuffix) else { return nil }
        return count
    }

    /// Maximum size of the body of a device push. For broadcasts, see ``APNSLimits``.
    public var payloadBytesMax: Int {
        switch self {
        case .voip: APNSLimits.payloadBytesMaxVoIP
        case .alert, .background, .complication, .controls, .fileprovider, .liveactivity, .location, .mdm, .pushtotalk,
            .widgets:
            APNSLimits.payloadBytesMax
        }
    }

    /// The priority of a request that sets none; nil omits the header, so APNs assumes 10.
    public var defaultPriority: Priority? { self == .background ? .considerate : nil }

    /// The name that a certificate must contain.
    public enum CertificateNeed: Sendable, Hashable {
        /// The bundle ID. If Apple does not document the type's certificates, APNs may require the topic instead.
        case app
        /// The topic with its suffix.
        case topic
        /// No name, because APNs requires provider tokens.
        case impossible
    }

    /// The name that a certificate must contain for pushes of this type (Apple, "Sending notification requests to
    /// APNs").
    public var certificateNeed: CertificateNeed {
        switch self {
        case .alert, .background, .controls, .fileprovider, .liveactivity, .mdm, .widgets: .app
        case .complication, .pushtotalk, .voip: .topic
        case .location: .impossible
        }
    }
}
