import AMQP
import APNS
import APNSProtocol
import Crypto
import EventLoop

/// One delivery, with what its stages have found out, for the messages that are published of it.
///
/// A class, so that the stages pass one reference and no copy.
final class DeliveryRecord: PublishReceiver, PushReceiver {
    /// What the record waits for.
    enum Stage {
        /// Nothing, or a component that has the record.
        case received
        case pushing(InFlightPush)
        case publishing(Settlement)
    }

    let delivery: IncomingMessage
    private let owner: DeliveryPipeline?
    /// The index of the lane's consumer that delivered it.
    let source: Int
    let receivedAt: MonotonicTime
    let receivedAtMilliseconds: Int64
    /// nil until the request was read, and if it cannot be read.
    var id: UUIDValue?
    var app: App?
    var environment: APNSEnvironment?
    var target: Target?
    private(set) var attempts: Attempts
    /// Attempts so far, this one included once the push was sent.
    private(set) var attemptsMade: Int
    /// The CloudEvent around the request, if there is one.
    var event: CloudEvent?
    /// nil unless spans of the delivery are exported.
    var trace: DeliveryTrace?
    /// Whether the delivery shares the outcome of another one.
    var isDuplicate = false
    var stage = Stage.received
    private(set) var sentAtMilliseconds: Int64?
    /// When the verdict was reached; before that, when the delivery came.
    private(set) var endedAtMilliseconds: Int64
    /// The message id of what is published of this delivery, the same for each publish: consumers drop duplicates by it.
    var messageID: String { id.flatMap { delivery.isOversized ? nil : $0.description } ?? otherMessageID }
    private lazy var otherMessageID = makeOtherMessageID()

    /// The app of the request.
    enum App {
        case configured(AppDirectory.Index)
        /// As the producer wrote it.
        case unknown(String)
    }

    /// The target of the request, as the producer wrote it.
    enum Target {
        case device(ArraySlice<UInt8>)
        case channel(ArraySlice<UInt8>)
    }

    var isBroadcast: Bool {
        if case .channel = target { true } else { false }
    }

    /// This attempt reached APNs, or may have reached it.
    func sent(atMilliseconds time: Int64) {
        sentAtMilliseconds = time
        attemptsMade = attempts.before + 1
    }

    /// A worker that died may have pushed it.
    func mayHaveBeenPushed() {
        attempts.possibleDuplicate = true
    }

    /// The pipeline of a record that goes through one.
    var pipeline: DeliveryPipeline {
        guard let owner else { preconditionFailure("the record goes through no pipeline") }
        return owner
    }

    /// Returns the stage and resets it to `received`.
    @inline(__always) func takeStage() -> Stage {
        var taken = Stage.received
        swap(&taken, &stage)
        return taken
    }

    func pushed(_ outcome: PushOutcome) {
        guard case .pushing(let push) = takeStage() else { preconditionFailure("no push is in flight") }
        pipeline.pushed(outcome, push, self)
    }

    override func published(_ outcome: PublishOutcome) {
        guard case .publishing(let settlement) = takeStage() else { preconditionFailure("no publish is in flight") }
        pipeline.published(outcome, settlement, self)
    }

    func endsNow(_ now: Now) {
        endedAtMilliseconds = now.unixMilliseconds
    }

    init(
        of delivery: consuming IncomingMessage, from source: Int, in pipeline: DeliveryPipeline? = nil, _ now: Now
    ) {
        self.source = source
        owner = pipeline
        receivedAt = now.monotonic
        receivedAtMilliseconds = now.unixMilliseconds
        endedAtMilliseconds = receivedAtMilliseconds
        attempts = Attempts(of: delivery, nowMilliseconds: receivedAtMilliseconds)
        attemptsMade = attempts.before
        // Last, so that it is moved and not copied.
        self.delivery = delivery
    }
}
