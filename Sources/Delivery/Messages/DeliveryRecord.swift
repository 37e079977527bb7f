import AMQP
import APNS
import APNSProtocol
import Crypto
import EventLoop

/// What is known of one delivery, gathered on its way, for the messages that tell how it ended.
///
/// A class, so that the way of a message carries one reference from step to step and not a copy of all of it.
final class DeliveryRecord: PublishReceiver, PushReceiver {
    let delivery: IncomingMessage
    /// Which of the lane's consumers it came from.
    let source: Int
    let receivedAt: MonotonicTime
    let receivedAtMilliseconds: Int64
    /// `nil` while, and when, it cannot be read; stays as it is once something was published by it.
    var id: UUIDValue?
    var app: App?
    var environment: APNSEnvironment?
    var target: Target?
    private(set) var attempts: Attempts
    /// Tries so far, this one included once it was sent.
    private(set) var attemptsMade: Int
    /// What the request came in, where that stands around it.
    var event: CloudEvent?
    /// nil unless its trace is kept.
    var trace: DeliveryTrace?
    /// A copy of another delivery, whose outcome it shares.
    var isDuplicate = false
    /// What goes on once the record is told what became of a push; nil while it is not to be told.
    var flight: InFlightPush?
    /// What goes on once it is told what became of what was published; nil while it is not to be told.
    var settlement: Settlement?
    private(set) var sentAtMilliseconds: Int64?
    /// When what follows for it was decided; before, when it came.
    private(set) var endedAtMilliseconds: Int64
    /// The id of what is published about this delivery, the same however often it is published: consumers drop copies
    /// by it.
    var messageID: String { id.flatMap { delivery.isOversized ? nil : $0.description } ?? otherMessageID }
    private lazy var otherMessageID = makeOtherMessageID()

    /// Which app the message was for.
    enum App {
        case configured(AppDirectory.Index)
        /// As its producer wrote it.
        case unknown(String)
    }

    /// Whom the message was for, as its producer wrote it.
    enum Target {
        case device(ArraySlice<UInt8>)
        case channel(ArraySlice<UInt8>)
    }

    var isBroadcast: Bool {
        if case .channel = target { true } else { false }
    }

    /// This try reached, or may have reached, APNs.
    func sent(atMilliseconds time: Int64) {
        sentAtMilliseconds = time
        attemptsMade = attempts.before + 1
    }

    /// A worker that died may have pushed it.
    func mayHaveBeenPushed() {
        attempts.possibleDuplicate = true
    }

    func pushed(_ outcome: PushOutcome) {
        guard let flight = flight.take() else { preconditionFailure("nothing was pushed of it") }
        flight.goOn(outcome, flight, self)
    }

    override func published(_ outcome: PublishOutcome) {
        guard let settlement = settlement.take() else { preconditionFailure("nothing was published of it") }
        settlement.goOn(outcome, settlement, self)
    }

    func endsNow(_ now: Now) {
        endedAtMilliseconds = now.unixMilliseconds
    }

    init(of delivery: consuming IncomingMessage, from source: Int, _ now: Now) {
        self.source = source
        receivedAt = now.monotonic
        receivedAtMilliseconds = now.unixMilliseconds
        endedAtMilliseconds = receivedAtMilliseconds
        attempts = Attempts(of: delivery, nowMilliseconds: receivedAtMilliseconds)
        attemptsMade = attempts.before
        // Last, so that it is handed on and not copied.
        self.delivery = delivery
    }
}
