import AMQP
import Configuration
import DeadLetters
import EventLoop

/// The return of a few held requests to their request queues, so that they probe breakers.
///
/// A request probes the breaker of a key, a certificate or a topic. Held requests are in wait queues, possibly for
/// hours. The requests that stay there count one failed delivery each.
struct HeldRequestReturn {
    /// Maximum number of requests that one run reads from a wait queue.
    static let readMax = 500
    /// The time without a further delivery after which the queue is considered read.
    private static let quietMilliseconds = 500
    private static let closeSecondsMax = 2

    let session: FleetSession
    /// The wait queues of the topology.
    let queues: [String]
    /// The reason codes of the requests.
    let codes: Set<String>
    /// The affected apps; empty for any app.
    let apps: Set<String>

    /// Returns at most `count` requests. A request is published again, and acknowledged after the broker has confirmed
    /// it. If the session ends in between, the request is in both queues. A worker process pushes it once, but two
    /// processes may each push it.
    ///
    /// - Returns: the number of returned requests.
    func run(_ count: Int) async throws(AMQPError) -> Int {
        // A missing queue closes the channel, which other work of the session must not notice.
        let admin = BrokerAdmin(on: session.connection)
        admin.start()
        let result: Result<Int, AMQPError>
        do throws(AMQPError) {
            result = .success(try await run(count, admin))
        } catch {
            result = .failure(error)
        }
        await admin.close()
        return try result.get()
    }

    private func run(_ count: Int, _ admin: BrokerAdmin) async throws(AMQPError) -> Int {
        var returned = 0
        for queue in queues where returned < count {
            do throws(AMQPError) {
                let messages = try await admin.status(ofQueue: queue).messages
                guard messages > 0 else { continue }
                returned += try await run(count - returned, from: queue, min(messages, Self.readMax))
            } catch {
                // The topology may have changed.
                guard error.code == .notFound else { throw error }
            }
        }
        return returned
    }

    private func run(_ count: Int, from queue: String, _ readCount: Int) async throws(AMQPError) -> Int {
        let consumer = Consumer(
            on: session.connection, configuration: ConsumerConfiguration(queue: queue, prefetch: readCount))
        let arrivals = Arrivals(on: session.loop)
        consumer.start(arrivals)
        var returned = 0
        var failure: AMQPError?
        while returned < count, arrivals.readCount < readCount, let message = await arrivals.next() {
            guard let outgoing = request(message) else { continue }
            switch await session.publisher.publishWithoutRefusedUserID(outgoing) {
            case .confirmed:
                returned += 1
                consumer.acknowledge(message.tag)
            case .returned, .refused: continue
            case .nacked: failure = AMQPError(.refused, "the broker refused a request to \(outgoing.routingKey)")
            case .unknown(let error), .notSent(let error): failure = error
            }
            if failure != nil { break }
        }
        await consumer.close(deadlineSeconds: Self.closeSecondsMax)
        if let failure { throw failure }
        return returned
    }

    /// Returns the request to publish; nil if the message has another cause or app, or cannot return.
    private func request(_ message: IncomingMessage) -> OutgoingMessage? {
        guard !message.isOversized else { return nil }
        let copy = RepublishableMessage(message, session.connector.provenance(of: message))
        let letter = DeadLetter(copy)
        guard codes.contains(letter.code), apps.isEmpty || letter.app.map(apps.contains) ?? false else { return nil }
        return try? ResendMessage.request(message, copy, session.names)
    }

    /// The deliveries of one wait queue. Loop-bound.
    private final class Arrivals: ConsumerHandler {
        private var messages: [IncomingMessage] = []
        private(set) var readCount = 0
        private let wait: ArrivalWait

        init(on loop: EventLoop) { wait = ArrivalWait(on: loop) }

        override func delivered(_ message: consuming IncomingMessage) {
            messages.append(message)
            wait.notify()
        }

        /// Returns the next delivery; nil if none arrives in time.
        func next() async -> IncomingMessage? {
            await wait.wait(milliseconds: HeldRequestReturn.quietMilliseconds) { readCount < messages.count }
            guard readCount < messages.count else { return nil }
            readCount += 1
            return messages[readCount - 1]
        }
    }
}
