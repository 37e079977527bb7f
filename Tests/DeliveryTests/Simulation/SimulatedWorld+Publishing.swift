import AMQP
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import TestKit

@testable import Delivery

/// The producers, and the operators who process dead letters.
extension SimulatedWorld {
    private static let tagHeader = "traceparent"
    /// The maximum time until an operator processes a dead letter.
    private static let redriveMillisecondsMax = 30_000

    func schedulePublishes() {
        for (index, message) in report.messages.enumerated() {
            for time in message.publishedAfterMilliseconds {
                schedulePublish(index, afterMilliseconds: time)
            }
        }
    }

    func schedulePublish(_ message: Int, afterMilliseconds delay: Int, headers: FieldTable = FieldTable()) {
        schedulePublish(afterMilliseconds: delay) { [unowned self] in publish(message, headers) }
    }

    /// Schedules a publish of a producer, or another change that must precede the end of the run.
    func schedulePublish(afterMilliseconds delay: Int, _ publish: @escaping () -> Void) {
        publishesLeft += 1
        loop.schedule(after: .milliseconds(delay)) { [unowned self] in
            publishesLeft -= 1
            publish()
        }
    }

    private func publish(_ index: Int, _ headers: FieldTable) {
        let message = report.messages[index]
        var headers = FieldTable(headers.entries.filter { $0.name != Self.tagHeader })
        headers.append(Self.tagHeader, .string(String(report.publishes.count)))
        report.publishes.append(SimulationReport.Publish(message: index, at: loop.now.monotonic))
        broker.publish(
            exchange: topology.names.requestsExchange, routingKey: "any", messageID: message.id.description,
            headers: headers, expiration: message.timeToLive, body: message.body)
    }

    /// Returns the index of the publish from which a message at the broker originates; nil if there is none.
    func publish(of message: ScriptedMessage) -> Int? {
        guard let tag = message.properties.header(Self.tagHeader)?.stringValue, let number = Int(tag),
            report.publishes.indices.contains(number)
        else { return nil }
        return number
    }

    /// Processes a dead letter as an operator does, at most once for each request.
    ///
    /// Registers the device and redrives the unchanged request, or publishes the corrected request, or does nothing.
    func workThrough(_ letter: ScriptedMessage, of index: Int) {
        let message = report.messages[index]
        let delay = random.below(Self.redriveMillisecondsMax)
        guard !redriven.contains(index) else { return }
        if message.kind == .redriven {
            redriven.insert(index)
            apns.state.add(Device(token: message.deviceToken, bundleID: SimulatedApps.bundleID(message.app)))
            schedulePublish(index, afterMilliseconds: delay, headers: letter.properties.headers ?? FieldTable())
        } else if let correction = message.correction {
            redriven.insert(index)
            schedulePublish(correction, afterMilliseconds: delay)
        }
    }
}
