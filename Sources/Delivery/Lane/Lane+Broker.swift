import AMQP
import EventLoop
import Telemetry

extension Lane {
    /// - Parameter isConnection: else a channel on it.
    func brokerChanged(_ changed: BrokerState, _ role: LaneLabels.BrokerRole, isConnection: Bool) {
        labels.brokerChanged(changed, role, isConnection: isConnection)
        let needed = consumers.indices.lazy.filter { self.configuration.role(ofConsumer: $0) != .expired }
            .map { self.consumers[$0].state }
        state.isConsuming = needed.allSatisfy { $0 == .ready }
        state.isPublishing = publisher.state == .ready
        // While it connects anew, what broke the connection is still why.
        let consumingFailure = consuming.state.failure ?? needed.compactMap(\.failure).first
        state.consumingFailure =
            state.isConsuming ? nil : consumingFailure.map(configuration.completeRemedy) ?? state.consumingFailure
        let brokerFailure = publishing.state.failure ?? publisher.state.failure
        state.brokerFailure =
            state.isPublishing ? nil : brokerFailure.map(configuration.completeRemedy) ?? state.brokerFailure
        stateChanged()
        outages.look(
            consuming: consuming.state, publishing: publishing.state, publisher: publisher.state,
            consumers: consumers.map(\.state), now: loop.now.monotonic, log)
    }
}

extension BrokerState {
    /// What keeps it from being used; nil where it is, or is only being begun.
    var failure: String? {
        switch self {
        case .idle, .connecting, .ready, .disconnected: nil
        case .blocked(let reason): "the broker takes no publishes: \(reason): \(AMQPError.alarmRemedy)"
        case .waiting(let error, _): error.advice
        case .closed: "closed"
        }
    }
}

extension AMQPError {
    /// With what mends it, or shows why, where that is known.
    var advice: String {
        switch code {
        case .notFound where replyCode == 404: "\(self): run: martlet topology apply"
        // A certificate, or a login: the configuration is wrong.
        case _ where !isRetriable: "\(self)"
        case .cannotConnect, .connectionLost, .timedOut: "\(self): see there with rabbitmqctl status"
        // An outage says so of an alarm; to what else is refused the broker has a reply code.
        case .refused where replyCode == 0: "\(self): \(Self.alarmRemedy)"
        default: "\(self)"
        }
    }

    fileprivate static let alarmRemedy =
        "see there with rabbitmq-diagnostics alarms; free disk, or have queues read that grow"
}
