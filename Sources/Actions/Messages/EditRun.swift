import AMQP
import BrokerTopology
package import Configuration
import Crypto
import DeadLetters
import Delivery
package import EventLoop

/// The publication of a request with a corrected body, and the removal of its dead letter, for a console.
///
/// Loop-bound. `@unchecked Sendable`: only the loop uses the object.
package final class EditRun: QueueRun, @unchecked Sendable {
    /// Maximum number of failure times in a refusal.
    private static let momentsMax = 20

    /// The reason why nothing is sent.
    package enum Refusal: Sendable {
        /// No dead letter has the id.
        case unknown
        /// Several dead letters have the id. The times of their failures are UNIX milliseconds.
        case ambiguous([Int64])
        /// The dead letter has another body than the one that the operator has corrected.
        case otherBody
        /// A worker would refuse the body.
        case body(ValidationResult.Problem)
        /// The body of the dead letter is too large.
        case tooLarge
        /// The original request queue is unknown, and there are several request queues.
        case noTarget

        package var sentence: String {
            switch self {
            case .unknown: "the queue has no dead letter with this id"
            case .ambiguous: "several dead letters have this id; choose one by the time of its failure"
            case .otherBody:
                "the dead letter has another body than the one shown: a later request with its id has failed; run "
                    + "the command, which shows the body of the queue"
            case .body(let problem): "a worker would refuse the body: \(problem.message)"
            case .tooLarge: "the body is larger than \(DeadLetterScan.messageBytesMax) bytes"
            case .noTarget: "the request queue of the dead letter is unknown; run the command with --to"
            }
        }
    }

    private let action: EditAction
    private let target: RedriveTarget
    private let rules: RequestRules?
    private let isDryRun: Bool
    private let scan: DeadLetterScan
    /// The first dead letter with the id.
    private var first: FoundMessage?
    /// The times of the failures of all dead letters with the id.
    private var moments: Set<Int64> = []
    private var isAmbiguous = false
    private var problem: String?
    private var isStopped = false
    package private(set) var refusal: Refusal?
    package private(set) var ids: [String] = []
    package private(set) var done = 0
    package private(set) var summary = "nothing sent"

    /// - Parameters:
    ///   - rules: the rules of the workers; nil to check only the contract.
    ///   - isDryRun: whether to find and check the dead letter without a publish.
    ///   - deliveryLimit: the delivery limit of the queue; nil without a limit.
    package init(
        _ action: EditAction, _ rules: RequestRules?, isDryRun: Bool, deliveryLimit: Int?,
        _ connector: BrokerConnector, on loop: EventLoop
    ) {
        (self.action, self.rules, self.isDryRun) = (action, rules, isDryRun)
        target = RedriveTarget(names: connector.names, queue: nil)
        scan = DeadLetterScan(
            of: connector.names.deadQueue, .deadLetters, connector, on: loop, nil, deliveryLimit: deliveryLimit)
    }

    package func stop(_ problem: String?) {
        (isStopped, self.problem) = (true, self.problem ?? problem)
        scan.stop()
    }

    package func run() async -> QueueRunEnd {
        do throws(AMQPError) {
            try await scan.open()
        } catch {
            await scan.close()
            return .failed(error.message)
        }
        await find()
        // A scan with a full window has not read newer messages, but it can have found the dead letter.
        if !(scan.end == .windowFull && first != nil) { problem = problem ?? scan.problem }
        var tag: DeliveryTag?
        if problem == nil, !isStopped { tag = await send() }
        let isHeld = tag.map { scan.holds($0) } ?? true
        if let tag, isHeld { scan.acknowledge(tag) }
        let isSettled = await scan.close()
        if tag != nil, !isHeld || !isSettled {
            problem = "the broker connection was lost: the dead letter may still be in the queue"
        }
        if let problem { return QueueRunEnd(problem: problem, of: scan) }
        if let refusal { return .failed(refusal.sentence) }
        return isStopped && done == 0 ? .stopped : .complete
    }

    private func find() async {
        var choice = DeadLetterChoice(ids: [action.id])
        choice.filter = action.failedAt.flatMap { try? Filter("failed_at == \($0)") }
        while let next = await scan.next(of: choice) {
            if let failedAt = next.letter.failedAt, moments.count < Self.momentsMax { moments.insert(failedAt) }
            guard let first else {
                first = next
                continue
            }
            // Identical dead letters are interchangeable.
            if DeadLetterMark(first.letter) != DeadLetterMark(next.letter) || first.copy.body != next.copy.body {
                isAmbiguous = true
            }
        }
    }

    /// Publishes the request. Returns the tag of the dead letter to remove; nil without a confirmed publish.
    private func send() async -> DeliveryTag? {
        guard let first else { return refuse(.unknown) }
        guard !isAmbiguous else { return refuse(.ambiguous(moments.sorted())) }
        guard !first.message.isOversized else { return refuse(.tooLarge) }
        guard action.original == nil || action.original == first.copy.body else { return refuse(.otherBody) }
        var copy = first.copy
        copy.body = action.body
        if let problem = RedriveCheck(rules, target)
            .problem(inBodyOf: copy, first.letter, now: scan.loop.now.unixMilliseconds)
        {
            return refuse(.body(problem))
        }
        guard let queue = target.queue(for: first.letter) else { return refuse(.noTarget) }
        guard !isDryRun else { return nil }
        let message = RedriveMessage.edited(first, action.body, to: queue)
        let outcome = await scan.publish(message)
        guard outcome == .confirmed else {
            problem = outcome.failure
            return nil
        }
        (done, summary) = (1, "sent to \(queue)")
        ids = RequestIdentity.of(messageID: message.messageID).map { [$0.description] } ?? []
        return first.message.tag
    }

    private func refuse(_ reason: Refusal) -> DeliveryTag? {
        refusal = reason
        return nil
    }
}
