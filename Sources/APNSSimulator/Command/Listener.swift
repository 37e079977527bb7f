import APNSProtocol
import EventLoop

/// A listener of the process, one for each service. Each listener has an option for its address and a member in the
/// ready line.
enum Listener: CaseIterable {
    case push, productionPush, channels, productionChannels

    var optionName: String {
        switch self {
        case .push: "listen"
        case .productionPush: "listen-production"
        case .channels: "listen-channels"
        case .productionChannels: "listen-production-channels"
        }
    }

    /// The option with its hyphens.
    var option: String { "--\(optionName)" }

    /// The service's name in the help text.
    var name: String {
        switch self {
        case .push: "sandbox: pushes and broadcasts"
        case .productionPush: "production: pushes and broadcasts"
        case .channels: "sandbox: channel management"
        case .productionChannels: "production: channel management"
        }
    }

    /// The port of the default address, on 127.0.0.1.
    var defaultPort: UInt16 {
        switch self {
        case .push: 2197
        case .productionPush: 2198
        case .channels: 2195
        case .productionChannels: 2196
        }
    }

    /// Name of the ready line's member that contains the port.
    var readyMember: StaticString {
        switch self {
        case .push: "port"
        case .productionPush: "production_port"
        case .channels: "channel_port"
        case .productionChannels: "production_channel_port"
        }
    }

    var service: Service {
        switch self {
        case .push: Service(.sandbox, .push)
        case .productionPush: Service(.production, .push)
        case .channels: Service(.sandbox, .channelManagement)
        case .productionChannels: Service(.production, .channelManagement)
        }
    }
}

/// The addresses of the listeners, from the command line and the defaults.
struct ListenerPlan {
    /// Addresses from the command line. A nil address disables the listener.
    private var specified: [Listener: Endpoint?] = [:]

    mutating func specify(_ endpoint: Endpoint?, for listener: Listener) {
        specified[listener] = .some(endpoint)
    }

    /// The address of a listener; nil if the listener is off. If the command line has an address for any listener, the
    /// listeners without an address are off. Otherwise, the listeners that are not disabled have their default
    /// addresses.
    subscript(listener: Listener) -> Endpoint? {
        if let endpoint = specified[listener] { return endpoint }
        guard areAtDefaults else { return nil }
        return Endpoint(host: "127.0.0.1", port: listener.defaultPort)
    }

    /// Whether the command line has no address for any listener.
    var areAtDefaults: Bool { specified.values.allSatisfy { $0 == nil } }

    /// The listeners that are on, with their addresses.
    var endpoints: [(listener: Listener, endpoint: Endpoint)] {
        Listener.allCases.compactMap { listener in self[listener].map { (listener, $0) } }
    }
}
