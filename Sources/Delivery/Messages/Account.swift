import AMQP
import APNSProtocol
import Crypto

/// What is known of one delivery, gathered on its way, for the messages that tell how it ended.
struct Account: Sendable {
    let delivery: IncomingMessage
    let receivedAtMilliseconds: Int64
    /// `nil` while, and when, it cannot be read.
    var id: UUIDValue?
    var app: String?
    var environment: APNSEnvironment?
    var target: Target?
    var attempts = Attempts()
    /// Tries so far, this one included once it was sent.
    var attemptsMade = 0
    var sentAtMilliseconds: Int64?

    /// Whom the message was for, as its producer wrote it.
    enum Target: Sendable {
        case device(ArraySlice<UInt8>)
        case channel(ArraySlice<UInt8>)
    }

    init(of delivery: IncomingMessage, receivedAtMilliseconds: Int64) {
        self.delivery = delivery
        self.receivedAtMilliseconds = receivedAtMilliseconds
    }
}
