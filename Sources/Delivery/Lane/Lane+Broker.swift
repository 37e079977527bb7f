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
    func brokerChanged() {
        state.isConsuming = consumers.allSatisfy { $0.state == .ready }
        state.isPublishing = publisher.state == .ready
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
            log.warning("A queue is not consumed", [.amqpQueue: .string(queue), .error: .string(error.advice)])
        case .ended(let length):
            log.info(
                "A queue is consumed again",
                [.amqpQueue: .string(queue), .durationMilliseconds: .milliseconds(length)])
        }
    }

    /// - Parameter use: of the connection or channel.
    private func log(_ line: OutageLog.Line?, of use: String) {
        switch line {
        case nil: break
        case .began(let error):
            log.warning(
                "The broker is not at hand", [.amqpConnection: .string(use), .error: .string(error.advice)])
        case .lasts(let error, let length):
            log.warning(
                "The broker is still not at hand",
                [
                    .amqpConnection: .string(use), .error: .string(error.advice),
                    .durationMilliseconds: .milliseconds(length),
                ])
        case .ended(let length):
            log.info(
                "The broker is at hand again",
                [.amqpConnection: .string(use), .durationMilliseconds: .milliseconds(length)])
        }
    }
}

extension AMQPError {
    /// With what mends it, where a command does.
    var advice: String { code == .notFound && replyCode == 404 ? "\(self): martlet topology apply" : "\(self)" }
}
