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

    /// The type that these bytes name, exactly as written; nil for any other bytes.
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

    /// What follows the bundle ID in `apns-topic`. Empty where the topic is the bundle ID itself; for `mdm` the topic
    /// is the UID of the MDM certificate, which stands in the bundle ID's place.
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

    /// Value of `apns-topic` for pushes of this type to an app.
    public func topic(bundleID: some Sequence<UInt8>) -> [UInt8] {
        var topic = [UInt8](bundleID)
        topic.append(contentsOf: topicSuffix.bytes)
        return topic
    }

    /// The bundle ID within a topic of this type, as a number of leading bytes; nil when the suffix is missing or
    /// nothing stands before it.
    public func bundleIDByteCount(inTopic topic: UnsafeRawBufferPointer) -> Int? {
        let suffix = topicSuffix.bytes
        let count = topic.count - suffix.count
        guard count > 0, UnsafeRawBufferPointer(rebasing: topic[count...]).equals(topicSuffix) else { return nil }
        return count
    }

    /// Greatest payload of a push to a device, in bytes of the body as sent. Broadcasts: ``APNSLimits``.
    public var payloadBytesMax: Int {
        switch self {
        case .voip: APNSLimits.payloadBytesMaxVoIP
        case .alert, .background, .complication, .controls, .fileprovider, .liveactivity, .location, .mdm, .pushtotalk,
            .widgets:
            APNSLimits.payloadBytesMax
        }
    }

    /// What to send when nobody asked for a priority; nil leaves the header out, which means 10.
    public var defaultPriority: Priority? { self == .background ? .considerate : nil }

    /// What a certificate that pushes it has to name.
    public enum CertificateNeed: Sendable, Hashable {
        /// The bundle ID; where Apple says nothing of it, APNs may want the topic all the same.
        case app
        /// The topic with its suffix.
        case topic
        /// APNs takes provider tokens only.
        case impossible
    }

    /// Apple, "Sending notification requests to APNs".
    public var certificateNeed: CertificateNeed {
        switch self {
        case .alert, .background, .controls, .fileprovider, .liveactivity, .mdm, .widgets: .app
        case .complication, .pushtotalk, .voip: .topic
        case .location: .impossible
        }
    }
}
