import AMQP
import EventLoop
import Telemetry

/// A log of the outages of a consuming connection, a publishing connection, and their channels.
struct BrokerOutageLog {
    /// The prefix of `consume` and `publish` in the log.
    private let user: String
    /// The queue of each consumer.
    private let queues: [String]
    private let completeRemedy: @Sendable (String) -> String
    private var consuming = OutageLog()
    private var publishing = OutageLog()
    private var publisher = OutageLog()
    private var consumers: [OutageLog]

    init(of user: String = "", queues: [String], completeRemedy: @escaping @Sendable (String) -> String) {
        (self.user, self.queues, self.completeRemedy) = (user, queues, completeRemedy)
        consumers = queues.map { _ in OutageLog() }
    }

    /// Logs each outage that began, lasts, or ended.
    ///
    /// - Parameter states: The status of each consumer, in the order of the queues.
    mutating func update(
        consuming: BrokerStatus, publishing: BrokerStatus, publisher: BrokerStatus, consumers states: [BrokerStatus],
        now: MonotonicTime, _ log: Log
    ) {
        write(self.consuming.changed(to: consuming, now: now), of: "consume", log)
        write(self.publishing.changed(to: publishing, now: now), of: "publish", log)
        // Both the connection and the publisher report an alarm. Log the alarm once.
        if publishing == .ready { write(self.publisher.changed(to: publisher, now: now), of: "publish", log) }
        for (index, state) in states.enumerated() {
            write(consumers[index].changed(to: state, now: now), ofQueue: queues[index], log)
        }
    }

    private func advice(_ error: AMQPError) -> LogValue { .string(completeRemedy(error.advice)) }

    /// Logs an outage of one consumer. The connection of the consumer may be up while the queue is missing.
    private func write(_ line: OutageLog.Line?, ofQueue queue: String, _ log: Log) {
        switch line {
        case nil: break
        case .began(let error), .lasts(let error, _):
            log.warning(.queueLost, [.amqpQueue: .string(queue), .error: advice(error)])
        case .ended(let length):
            log.info(
                .queueBack,
                [.amqpQueue: .string(queue), .durationMilliseconds: .milliseconds(length)])
        }
    }

    /// Logs an outage of a connection, or of the publisher's channel.
    ///
    /// - Parameter use: The purpose of the connection or channel.
    private func write(_ line: OutageLog.Line?, of use: String, _ log: Log) {
        let use = user + use
        switch line {
        case nil: break
        case .began(let error):
            log.warning(
                .brokerLost, [.amqpConnection: .string(use), .error: advice(error)])
        case .lasts(let error, let length):
            log.warning(
                .brokerStillLost,
                [
                    .amqpConnection: .string(use), .error: advice(error),
                    .durationMilliseconds: .milliseconds(length),
                ])
        case .ended(let length):
            log.info(
                .brokerBack,
                [.amqpConnection: .string(use), .durationMilliseconds: .milliseconds(length)])
        }
    }
}
