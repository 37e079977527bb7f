package import AMQP
import BrokerTopology
import Configuration
package import DeadLetters
import Delivery
package import EventLoop

/// The publication of the chosen messages of scans. A dead letter is checked again, published as a request, and removed
/// after the broker's confirm. Unrouted results and waiting requests are published in the same way, but their bodies
/// are not checked.
///
/// Loop-bound. `@unchecked Sendable`: only the loop uses the object.
package final class MessageResend: @unchecked Sendable {
    private let settings: ResendSettings
    private let loop: EventLoop
    private let check: RedriveCheck
    private unowned let handler: any ResendHandler
    private var limiter: RateLimiter?
    private var scan: DeadLetterScan?
    package private(set) var counts = RedriveCounts()
    private var sent = 0
    private var isStopped = false
    /// The outcome of a publish that stops the publication, because the other messages would also fail.
    package private(set) var failure: PublishOutcome?

    /// - Parameter handler: receives the events. The publication does not retain the handler.
    package init(_ settings: ResendSettings, on loop: EventLoop, _ handler: any ResendHandler) {
        (self.settings, self.loop, self.handler) = (settings, loop, handler)
        check = RedriveCheck(settings.rules, settings.target)
        limiter = settings.ratePerSecond.map { RateLimiter(perSecond: $0) }
    }

    private var names: TopologyNames { settings.target.names }

    /// Whether the limit is reached.
    package var isFull: Bool { sent >= settings.limit ?? .max }

    /// Whether no further message will be published.
    package var isOver: Bool { isStopped || failure != nil || isFull }

    /// Ends the publication. Messages whose publish has begun are completed.
    package func stop() {
        isStopped = true
        scan?.stop()
    }

    /// Publishes the chosen messages of an open scan. Does not close the scan.
    package func run(_ scan: DeadLetterScan) async {
        self.scan = scan
        await withTaskGroup(of: Void.self) { group in
            var window = PublishWindow()
            while !isOver, let next = await scan.next(of: settings.choice) {
                await handler.chose(next)
                guard !isStopped else { break }
                guard let message = outgoing(next) else { continue }
                let isRouted = handler.isRouted(message.routingKey)
                if isRouted == false {
                    counts.unroutable += 1
                    report(next.letter.id, .unroutable(routingKey: message.routingKey))
                    continue
                }
                sent += 1
                if settings.isDryRun {
                    counts.redriven += 1
                    handler.wouldSend(next.letter)
                    continue
                }
                if let wait = limiter?.wait(now: loop.now.monotonic), wait > .zero { await loop.sleep(for: wait) }
                await window.makeRoom(in: &group)
                // During the wait, the scan may have ended or other messages may have failed.
                if scan.isCutShort || failure != nil || isStopped { break }
                scan.takenCount += 1
                if isRouted == nil {
                    await publish(message, next.letter.id, next.message.tag)
                    continue
                }
                // Capture only the ID and the tag, because `next` would keep another body in memory.
                group.addTask { [self, id = next.letter.id, tag = next.message.tag] in
                    await publish(message, id, tag)
                }
            }
            scan.stop()
        }
        self.scan = nil
        counts.seen += scan.seen
    }

    /// Returns the message to publish. Counts and reports a message that stays in the queue, and returns nil.
    private func outgoing(_ next: FoundMessage) -> OutgoingMessage? {
        if next.message.isOversized {
            counts.refuse("size.message_bytes", nil)
            report(next.letter.id, .refused(code: "size.message_bytes", reason: "body too large"))
            return nil
        }
        do throws(ResendMessage.Refusal) {
            switch settings.source {
            case .deadLetters: break
            case .unrouted: return try ResendMessage.result(next.message, next.copy, names)
            case .waits: return try ResendMessage.request(next.message, next.copy, names)
            }
        } catch {
            counts.failed += 1
            report(next.letter.id, .foreign(error.text))
            return nil
        }
        if let problem = check.problem(in: next.copy, of: next.letter, now: loop.now.unixMilliseconds) {
            counts.refuse(problem.reason, next.letter.id)
            report(next.letter.id, .refused(code: problem.reason, reason: problem.message))
            return nil
        }
        guard let queue = settings.target.queue(for: next.letter) else {
            counts.failed += 1
            report(next.letter.id, .noTarget)
            return nil
        }
        return RedriveMessage.make(
            of: next.copy, next.letter, to: queue, resetsAttempts: settings.resetsAttempts)
    }

    private func publish(_ message: OutgoingMessage, _ id: String, _ tag: DeliveryTag) async {
        guard let scan else { return }
        defer { scan.takenCount -= 1 }
        let outcome = await outcome(of: message, scan)
        if outcome == .confirmed {
            guard scan.holds(tag) else {
                counts.left += 1
                return report(id, .left)
            }
            scan.acknowledge(tag)
            if handler.isRouted(message.routingKey) == false {
                counts.unroutable += 1
                return report(id, .unroutable(routingKey: message.routingKey))
            }
            counts.redriven += 1
            return report(id, .resent)
        }
        if outcome.isUnknown { counts.unknown += 1 } else { counts.failed += 1 }
        report(id, .notPublished(outcome, routingKey: message.routingKey))
        if case .refused = outcome { return }
        // Other requests of this wait queue may belong to another request queue.
        if case .returned = outcome, settings.source == .waits { return }
        // The other messages would also fail.
        failure = outcome
        scan.stop()
    }

    /// Publishes a message. For the first result with each routing key, also determines whether a queue is bound.
    private func outcome(of message: OutgoingMessage, _ scan: DeadLetterScan) async -> PublishOutcome {
        guard handler.isRouted(message.routingKey) == nil else { return await scan.publish(message) }
        return await handler.publishFirst(message) { await scan.publish($0) }
    }

    private func report(_ id: String, _ outcome: ResendReport.Outcome) {
        handler.reported(ResendReport(id: id, outcome: outcome))
    }
}
