import AMQP
import EventLoop
import Telemetry

/// Outages of a lane's two connections to the broker and of the channels on them.
struct BrokerOutages {
    var consuming = OutageLog()
    var publishing = OutageLog()
    var publisher = OutageLog()
    var consumers: [OutageLog]
}

extension Lane {
    /// - Parameter isConnection: else a channel on it.
    func brokerChanged(_ changed: BrokerState, _ role: LaneLabels.BrokerRole, isConnection: Bool) {
        labels.brokerChanged(changed, role, isConnection: isConnection)
        state.isConsuming = consumers.allSatisfy { $0.state == .ready }
        state.isPublishing = publisher.state == .ready
        // While it connects anew, what broke the connection is still why.
        let consumingFailure = consuming.state.failure ?? consumers.lazy.compactMap(\.state.failure).first
        state.consumingFailure = state.isConsuming ? nil : consumingFailure ?? state.consumingFailure
        let brokerFailure = publishing.state.failure ?? publisher.state.failure
        state.brokerFailure = state.isPublishing ? nil : brokerFailure ?? state.brokerFailure
        stateChanged()
        let now = loop.now.monotonic
        log(outages.consuming.changed(to: consuming.state, now: now), of: "consume")
        log(outages.publishing.changed(to: publishing.state, now: now), of: "publish")
        // Of an alarm the connection says the same.
        if publishing.state == .ready { log(outages.publisher.changed(to: publisher.state, now: now), of: "publish") }
        for (index, queue) in configuration.consumers.enumerated() {
            logQueue(outages.consumers[index].changed(to: consumers[index].state, now: now), queue.queue)
        }
    }

    /// The connection is there, the queue is not.
    private func logQueue(_ line: OutageLog.Line?, _ queue: String) {
        switch line {
        case nil: break
        case .began(let error), .lasts(let error, _):
            log.warning(.queueLost, [.amqpQueue: .string(queue), .error: .string(error.advice)])
        case .ended(let length):
            log.info(
                .queueBack,
                [.amqpQueue: .string(queue), .durationMilliseconds: .milliseconds(length)])
        }
    }

    /// - Parameter use: of the connection or channel.
    private func log(_ line: OutageLog.Line?, of use: String) {
        switch line {
        case nil: break
        case .began(let error):
            log.warning(
                .brokerLost, [.amqpConnection: .string(use), .error: .string(error.advice)])
        case .lasts(let error, let length):
            log.warning(
                .brokerStillLost,
                [
                    .amqpConnection: .string(use), .error: .string(error.advice),
                    .durationMilliseconds: .milliseconds(length),
                ])
        case .ended(let length):
            log.info(
                .brokerBack,
                [.amqpConnection: .string(use), .durationMilliseconds: .milliseconds(length)])
        }
    }
}

extension BrokerState {
    /// What keeps it from being used; nil where it is, or is only being begun.
    fileprivate var failure: String? {
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
        case .notFound where replyCode == 404: "\(self): martlet topology apply"
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
