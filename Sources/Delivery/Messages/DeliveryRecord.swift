import AMQP
import APNS
import APNSProtocol
import Crypto
import EventLoop

/// One delivery, with the data that the pipeline's stages add. The messages about the delivery are built from the
/// record.
///
/// A class, so that the stages pass a reference instead of copies.
final class DeliveryRecord: PublishReceiver, PushReceiver {
    /// The operation that the record waits for.
    enum Stage {
        /// No push and no publish.
        case received
        case pushing(InFlightPush)
        case publishing(Settlement)
    }

    let delivery: IncomingMessage
    private let owner: DeliveryPipeline?
    /// The index of the lane's consumer that delivered the request.
    let source: Int
    let receivedAt: MonotonicTime
    let receivedAtMilliseconds: Int64
    /// The id of the request; nil until the request is read, and if it has no id.
    var id: UUIDValue?
    var app: App?
    var environment: APNSEnvironment?
    var target: Target?
    /// The push type; nil until the request is read, and if the request does not conform to its schema.
    var pushType: PushType?
    /// The producer's timestamp in seconds; nil if the producer set none.
    let publishedAtSeconds: UInt64?
    private(set) var attempts: Attempts
    /// The number of attempts so far. Once the push of this delivery was sent, the number includes its attempt.
    private(set) var attemptsMade: Int
    /// The CloudEvent that contains the request; nil if the request is not in an event.
    var event: CloudEvent?
    /// The origin of a child of a request to users; nil for any other request.
    var fanoutOrigin: FanoutOrigin?
    /// The expansion of a request to users; nil until it begins, and for any other request. A child that is pushed in
    /// place of its request has the expansion of the request.
    var expansion: Expansion?
    /// The command about a device token that APNs refused; nil without such a command.
    var refusal: RefusalCommand?
    /// The trace of the delivery; nil unless its spans are exported.
    var trace: DeliveryTrace?
    /// Whether the delivery shares the outcome of another delivery.
    var isDuplicate = false
    var stage = Stage.received
    private(set) var sentAtMilliseconds: Int64?
    /// The time at which the verdict was reached; until then, the time at which the delivery arrived.
    private(set) var endedAtMilliseconds: Int64
    /// The message id of the result and of the dead letter. Consumers drop duplicates by this id.
    var messageID: String { id.flatMap { delivery.isOversized ? nil : $0.description } ?? fallbackMessageID }
    private lazy var fallbackMessageID = makeFallbackMessageID()

    enum App {
        case configured(AppDirectory.Index)
        /// The bundle ID of an app that is not configured, as the producer wrote it.
        case unknown(String)
    }

    /// The target of the request. A list of users is not recorded.
    enum Target {
        case device(ArraySlice<UInt8>)
        case channel(ArraySlice<UInt8>)
        case user(ArraySlice<UInt8>)
    }

    var isBroadcast: Bool {
        if case .channel = target { true } else { false }
    }

    /// Records that APNs processed or may have processed the push of this delivery.
    func sent(atMilliseconds time: Int64) {
        sentAtMilliseconds = time
        attemptsMade = attempts.before + 1
    }

    /// Marks the request as a possible duplicate.
    func markPossibleDuplicate() {
        attempts.possibleDuplicate = true
    }

    /// The pipeline that processes the record. Traps for the record of a direct push, which has no pipeline.
    var pipeline: DeliveryPipeline {
        guard let owner else { preconditionFailure("record without a pipeline") }
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

    func recordVerdict(_ now: Now) {
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
        publishedAtSeconds = delivery.properties.timestampSeconds
        attemptsMade = attempts.before
        // Assign `delivery` last, so that it is moved and not copied.
        self.delivery = delivery
    }

    /// Creates the record of a child that is pushed in place of its request to users.
    ///
    /// - Parameter delivery: The delivery of the request, with the body of the child.
    init(
        _ parent: DeliveryRecord, replacedBy delivery: consuming IncomingMessage, id: UUIDValue,
        token: ArraySlice<UInt8>, _ origin: FanoutOrigin
    ) {
        (source, owner) = (parent.source, parent.owner)
        (receivedAt, receivedAtMilliseconds) = (parent.receivedAt, parent.receivedAtMilliseconds)
        endedAtMilliseconds = parent.endedAtMilliseconds
        (attempts, attemptsMade) = (parent.attempts, parent.attemptsMade)
        (app, environment, pushType) = (parent.app, parent.environment, parent.pushType)
        publishedAtSeconds = parent.publishedAtSeconds
        (self.id, target) = (id, .device(token))
        (event, trace) = (parent.event, parent.trace)
        (fanoutOrigin, expansion) = (origin, parent.expansion)
        self.delivery = delivery
    }
}
