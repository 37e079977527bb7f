import APNSProtocol
import EventLoop

/// A failure in a run, with its start and end times.
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
        /// A broker that refuses every publish.
        case brokerFull
        case exchangesMissing([String])
        case resultQueuesMissing
        case endpointLost(APNSEnvironment, SimulatedNetwork.State)
        /// An endpoint that answers 500 to every push.
        case endpointFails(APNSEnvironment)
        /// A proxy that answers every push with a page.
        case endpointIsProxy(APNSEnvironment)
        /// An endpoint that answers no push.
        case endpointSilent(APNSEnvironment)
        case goAway
        case streamsRefused
        case keyRevoked(Int)
        /// A key that is valid for one environment only.
        case keyBound
        case appDisabled(Int)
        case devicesThrottled
        /// A clock of the workers that is ahead by this many seconds, or behind if negative.
        case clockWrong(Int)
        /// A suspension of the machine for this many seconds.
        case suspended(Int)
        case store(SimulatedStoreFault)
        /// The death of the worker that next performs this step, unless the disturbance ends before.
        case workerKilledAfter(SimulatedStep)
    }

    let kind: Kind
    let begins: MonotonicTime
    var ends: MonotonicTime

    /// Whether workers may have held requests because of the disturbance.
    var holds: Bool {
        switch kind {
        case .connectionCut, .workerKilled, .workerDrained, .brokerClosesConnections, .brokerClosesChannels,
            .brokerRestarts, .brokerFrozen, .brokerAlarm, .brokerFull, .exchangesMissing, .resultQueuesMissing,
            .goAway, .devicesThrottled, .store, .workerKilledAfter:
            false
        case .endpointLost, .endpointFails, .endpointIsProxy, .endpointSilent, .streamsRefused, .keyRevoked, .keyBound,
            .appDisabled, .clockWrong, .suspended:
            true
        }
    }

    /// Returns whether the disturbance can affect the request.
    func affects(_ message: SimulatedMessage) -> Bool {
        switch kind {
        case .endpointLost(let environment, _), .endpointFails(let environment), .endpointIsProxy(let environment),
            .endpointSilent(let environment):
            message.environment == environment
        case .keyRevoked(let key): message.key == key
        case .keyBound: message.isForBoundKey
        case .appDisabled(let app): message.app == app
        case .devicesThrottled: message.kind == .throttled
        case .store: false
        default: true
        }
    }
}
