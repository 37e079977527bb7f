import AMQP
import APNS
import APNSProtocol
public import Crypto
public import EventLoop

/// A sender of single requests that needs no broker. It validates each request as a lane does, pushes a valid request
/// once, and reports the result.
///
/// Loop-bound.
public final class DirectPush {
    /// The report on a request: its outcome, its result, and whether APNs was unreachable.
    public struct Report: Sendable {
        public var outcome: Outcome
        /// The result as JSON (`schemas/result.schema.json`).
        public var result: [UInt8]
        /// The outcome as a sentence.
        public var sentence: String
        /// Whether no connection to APNs could be opened, or the connection could not write the push in time.
        public fileprivate(set) var isUnreachable = false
    }

    private let loop: EventLoop
    private let apps: AppDirectory
    private let reader: RequestReader
    private let pools: [APNSPool]
    /// The last connect failure of each pool.
    private let failures: [ConnectFailure]
    /// A policy of one attempt, without retries or holds.
    private let policy = OutcomePolicy(
        schedule: RetrySchedule(attemptsMax: 1, holdSecondsMax: 0), resendsUnknown: false)

    /// Creates a sender. Call this initializer on the loop's thread.
    ///
    /// - Parameter connectors: One connector for each pool.
    public init(loop: EventLoop, configuration: LaneConfiguration, connectors: [ByteConnector]) {
        loop.assertOnLoop()
        self.loop = loop
        apps = configuration.apps
        reader = RequestReader(
            apps: apps, payloadSchemas: configuration.payloadSchemas, hasRegistrations: configuration.hasRegistrations,
            bytesMax: configuration.consumer.messageBytesMax, depthMax: configuration.messageDepthMax)
        pools = zip(configuration.pools, connectors).map {
            APNSPool(loop: loop, connector: $1, configuration: $0)
        }
        failures = pools.map { ConnectFailure(of: $0) }
    }

    /// Validates a request, pushes the request if it is valid, and returns the report.
    ///
    /// - Parameter id: The id of the request if its body contains none.
    public func send(_ body: [UInt8], id: UUIDValue) async -> Report {
        let record = DeliveryRecord(of: IncomingMessage(unpublished: body), from: 0, loop.now)
        record.id = id
        switch reader.read(record) {
        case .failure(let violation): return report(FinalOutcome(invalid: violation), record)
        case .success(.push(let request)): return await send(request, record)
        case .success(.audience): return report(FinalOutcome(invalid: .usersWithoutBroker), record)
        }
    }

    private func send(_ request: PushRequest, _ record: DeliveryRecord) async -> Report {
        let sentAt = loop.now.unixMilliseconds
        let outcome = await pools[request.route.pool].send(request.push)
        let subject = OutcomePolicy.Subject(
            request: request, attempts: record.attempts, nowMilliseconds: loop.now.unixMilliseconds)
        if case .notSent = outcome {} else { record.sent(atMilliseconds: sentAt) }
        let isUnreachable =
            switch outcome {
            case .notSent(.noConnection), .notSent(.notWritten): true
            case .answered, .notSent, .unknown: false
            }
        let failure = isUnreachable ? failures[request.route.pool].error : nil
        var report = report(
            failure.map { policy.hold(HoldReason($0), of: subject) } ?? policy.verdict(on: outcome, of: subject),
            record)
        report.isUnreachable = isUnreachable
        return report
    }

    private func report(_ verdict: Verdict, _ record: DeliveryRecord) -> Report {
        switch verdict {
        case .conclude(let finalOutcome): report(finalOutcome, record)
        // The policy of one attempt never returns these verdicts before `close`.
        case .wait, .again, .report, .quarantine, .requeue: report(FinalOutcome(outcome: .unknown), record)
        }
    }

    private func report(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord) -> Report {
        Report(
            outcome: finalOutcome.outcome,
            result: ResultMessage.body(record, finalOutcome, apps, loop.now.unixMilliseconds),
            sentence: finalOutcome.sentence)
    }

    /// Closes the connections.
    public func close() {
        for pool in pools { pool.close() }
    }
}

extension RequestViolation {
    fileprivate static let usersWithoutBroker = RequestViolation(
        .registration, "not_configured",
        "A push without the broker goes to one device: set device_token, or publish the request with martlet publish.")
}

extension FinalOutcome {
    fileprivate var sentence: String {
        if let error { return error.sentence }
        switch (outcome, answer) {
        case (.accepted, _): return "APNs accepted the push."
        case (.expired, nil): return "The request expired before it was sent."
        case (_, let answer?): return "APNs answered \(answer.status) \(answer.reason ?? "without a reason")."
        case (_, nil): return "The request was not sent."
        }
    }
}

extension IncomingMessage {
    /// Creates a message that no broker delivered. The message has no properties.
    init(unpublished body: [UInt8]) {
        self.init(
            tag: DeliveryTag(number: 0, generation: 0, bytes: 0), queue: "", isRedelivered: false,
            content: MessageContent(body: body))
    }
}
