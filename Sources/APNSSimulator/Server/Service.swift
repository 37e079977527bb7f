public import APNSProtocol
import JSON

/// What a listener serves: one of APNs' two endpoints, in one of its two environments.
public struct Service: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, CaseIterable, Sendable {
        /// Pushes to devices, and broadcasts to channels.
        case push
        /// Channels are made, read, listed and deleted.
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

    /// Such as `sandbox push`.
    public var description: String { "\(environment.rawValue) \(kind.rawValue)" }
}

extension Service {
    /// Adds it as members of a JSON object that is open.
    func write(to json: inout JSONWriter) {
        json.member("environment", environment.rawValue)
        json.member("service", kind.rawValue)
    }
}
