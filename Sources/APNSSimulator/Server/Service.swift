public import APNSProtocol
import JSON

/// The service of a listener: one of APNs' two services, in one of its two environments.
public struct Service: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, CaseIterable, Sendable {
        /// Pushes to devices, and broadcasts to channels.
        case push
        /// Creating, reading, listing and deleting channels.
        case channelManagement = "channel-management"
    }

    public var environment: APNSEnvironment
    public var kind: Kind

    public init(_ environment: APNSEnvironment, _ kind: Kind) {
        self.environment = environment
        self.kind = kind
    }

    public static let sandboxPush = Service(.sandbox, .push)
    public static let productionPush = Service(.production, .push)

    /// Environment and kind, for example `sandbox push`.
    public var description: String { "\(environment.rawValue) \(kind.rawValue)" }
}

extension Service {
    /// Writes the service as members of the current JSON object.
    func write(to json: inout JSONWriter) {
        json.member("environment", environment.rawValue)
        json.member("service", kind.rawValue)
    }
}
