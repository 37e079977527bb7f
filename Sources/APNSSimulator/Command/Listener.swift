import APNSProtocol
import EventLoop

/// What a process can listen for. Each has an option that says where, and a place in the ready line.
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

    /// As a command line has it.
    var option: String { "--\(optionName)" }

    /// As the help text calls it.
    var name: String {
        switch self {
        case .push: "sandbox: pushes and broadcasts"
        case .productionPush: "production: the same"
        case .channels: "sandbox: channel management"
        case .productionChannels: "production: the same"
        }
    }

    /// Port of 127.0.0.1 when nothing else was said.
    var defaultPort: UInt16 {
        switch self {
        case .push: 2197
        case .productionPush: 2198
        case .channels: 2195
        case .productionChannels: 2196
        }
    }

    /// The member of the ready line that has the port.
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

/// Where a process listens, as far as it was told.
struct ListenerPlan {
    /// What was asked for; a nil value turns a listener off.
    private var asked: [Listener: Endpoint?] = [:]

    mutating func ask(_ listener: Listener, at endpoint: Endpoint?) {
        asked[listener] = .some(endpoint)
    }

    /// Where this one listens; nil: it does not. Once an address was given for any, the others are off unless they have
    /// one, too; else all are at their defaults.
    subscript(listener: Listener) -> Endpoint? {
        if let endpoint = asked[listener] { return endpoint }
        guard areAtDefaults else { return nil }
        return Endpoint(host: "127.0.0.1", port: listener.defaultPort)
    }

    /// Whether no address was given for any.
    var areAtDefaults: Bool { asked.values.allSatisfy { $0 == nil } }

    /// Where each listens that does.
    var endpoints: [(listener: Listener, endpoint: Endpoint)] {
        Listener.allCases.compactMap { listener in self[listener].map { (listener, $0) } }
    }
}
