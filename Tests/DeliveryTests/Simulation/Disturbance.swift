import APNSProtocol
import EventLoop

/// Something that goes wrong in a run, from one moment to another.
struct Disturbance {
    enum Kind: Hashable {
        case connectionCut
        case workerKilled
        case workerDrained
        case brokerClosesConnections
        case brokerClosesChannels
        case brokerRestarts
        case brokerFrozen
        case brokerAlarm
        /// Every publish is refused.
        case brokerFull
        case exchangesMissing([String])
        case resultQueuesMissing
        case endpointLost(APNSEnvironment, SimulatedNetwork.Way)
        /// 500 to all.
        case endpointFails(APNSEnvironment)
        /// A proxy's page to all.
        case endpointIsProxy(APNSEnvironment)
        /// No answer to any.
        case endpointSilent(APNSEnvironment)
        case goAway
        case streamsRefused
        case keyRevoked(Int)
        /// The key serves one environment alone.
        case keyBound
        case appDisabled(Int)
        case devicesThrottled
        /// The workers' clock is ahead by so many seconds, or behind.
        case clockWrong(Int)
        /// The machine slept for so many seconds.
        case suspended(Int)
    }

    let kind: Kind
    let begins: MonotonicTime
    var ends: MonotonicTime

    /// Whether messages may have waited for its end in a wait queue.
    var holds: Bool {
        switch kind {
        case .connectionCut, .workerKilled, .workerDrained, .brokerClosesConnections, .brokerClosesChannels,
            .brokerRestarts, .brokerFrozen, .brokerAlarm, .brokerFull, .exchangesMissing, .resultQueuesMissing,
            .goAway, .devicesThrottled:
            false
        case .endpointLost, .endpointFails, .endpointIsProxy, .endpointSilent, .streamsRefused, .keyRevoked, .keyBound,
            .appDisabled, .clockWrong, .suspended:
            true
        }
    }

    /// Whether it has to do with this message at all.
    func touches(_ message: SimulatedMessage) -> Bool {
        switch kind {
        case .endpointLost(let environment, _), .endpointFails(let environment), .endpointIsProxy(let environment),
            .endpointSilent(let environment):
            message.environment == environment
        case .keyRevoked(let key): message.key == key
        case .keyBound: message.isForBoundKey
        case .appDisabled(let app): message.app == app
        case .devicesThrottled: message.kind == .throttled
        default: true
        }
    }
}
