import AMQP
import APNS
import APNSProtocol
public import Crypto
public import EventLoop

/// Pushes single requests without a broker: each is read and checked as a lane does it, sent once, and told as a result.
///
/// Belongs to one loop and is used on its thread only.
public final class DirectPush {
    /// What became of a request.
    public struct Told: Sendable {
        public var outcome: Outcome
        /// As a result says it (`schemas/result.schema.json`).
        public var result: [UInt8]
        /// For whoever asked.
        public var sentence: String
        /// No connection to APNs could be had.
        public fileprivate(set) var isUnreachable = false
    }

    private let loop: EventLoop
    private let apps: AppDirectory
    private let reader: RequestReader
    private let pools: [APNSPool]
    /// By pool.
    private let failures: [ConnectFailure]
    /// There is no second try.
    private let policy = OutcomePolicy(
        schedule: RetrySchedule(attemptsMax: 1, holdSecondsMax: 0), resendsUnknown: false)

    /// To be called on the loop's thread.
    ///
    /// - Parameter connectors: one for each pool.
    public init(loop: EventLoop, configuration: LaneConfiguration, connectors: [ByteConnector]) {
        loop.assertOnLoop()
        self.loop = loop
        apps = configuration.apps
        reader = RequestReader(
            apps: apps, payloadSchemas: configuration.payloadSchemas, bytesMax: configuration.consumer.messageBytesMax,
            depthMax: configuration.messageDepthMax)
        pools = zip(configuration.pools, connectors).map {
            APNSPool(loop: loop, connector: $1, configuration: $0)
        }
        failures = pools.map { ConnectFailure(of: $0) }
    }

    /// - Parameter id: of a body that has none.
    public func send(_ body: [UInt8], id: UUIDValue) async -> Told {
        let record = DeliveryRecord(of: IncomingMessage(unpublished: body), from: 0, loop.now)
        record.id = id
        switch reader.read(record) {
        case .failure(let refusal): return told(FinalOutcome(invalid: refusal), record)
        case .success(let notification): return await send(notification, record)
        }
    }

    private func send(_ notification: PushRequest, _ record: DeliveryRecord) async -> Told {
        let sentAt = loop.now.unixMilliseconds
        let outcome = await pools[notification.route.pool].send(notification.push)
        let subject = OutcomePolicy.Subject(
            notification: notification, attempts: record.attempts, nowMilliseconds: loop.now.unixMilliseconds)
        if case .notSent = outcome {} else { record.sent(atMilliseconds: sentAt) }
        let isUnreachable =
            switch outcome {
            case .notSent(.noConnection), .notSent(.notWritten): true
            case .answered, .notSent, .unknown: false
            }
        let failure = isUnreachable ? failures[notification.route.pool].error : nil
        var told = told(
            failure.map { policy.hold(HoldReason($0), of: subject) } ?? policy.verdict(on: outcome, of: subject),
            record)
        told.isUnreachable = isUnreachable
        return told
    }

    private func told(_ verdict: Verdict, _ record: DeliveryRecord) -> Told {
        switch verdict {
        case .conclude(let finalOutcome): told(finalOutcome, record)
        // Not with this policy, and not before `close`.
        case .wait, .quarantine, .requeue: told(FinalOutcome(outcome: .unknown), record)
        }
    }

    private func told(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord) -> Told {
        Told(
            outcome: finalOutcome.outcome,
            result: ResultMessage.body(record, finalOutcome, apps, loop.now.unixMilliseconds),
            sentence: finalOutcome.sentence)
    }

    /// Ends the connections.
    public func close() {
        for pool in pools { pool.close() }
    }
}

extension FinalOutcome {
    fileprivate var sentence: String {
        if let deadLetter { return deadLetter.sentence }
        switch (outcome, answer) {
        case (.accepted, _): return "APNs has taken it."
        case (.expired, nil): return "Its expiration has passed; it was not sent."
        case (_, let answer?): return "APNs answered \(answer.status) \(answer.reason ?? "without a reason")."
        case (_, nil): return "It was not sent."
        }
    }
}

extension IncomingMessage {
    /// One that no broker has delivered, without properties.
    init(unpublished body: [UInt8]) {
        self.init(
            tag: DeliveryTag(number: 0, generation: 0, bytes: 0), queue: "", isRedelivered: false,
            content: MessageContent(body: body))
    }
}
