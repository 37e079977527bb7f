import AMQP
import CommandKit
import DeadLetters
import Delivery
import JSON
import Telemetry

/// A result, a dead letter, or a reply to a channel command that was published to the result exchange. The content is
/// untrusted.
struct WatchedMessage: Equatable {
    enum Kind: String {
        case result
        case deadLetter = "dead_letter"
        case channelReply = "channel_reply"
    }

    var kind: Kind
    /// The id of the notification, or the message-id if the id cannot be read; nil without either.
    var id: String?
    var app: String?
    /// The outcome, such as `accepted`; nil for a message that the broker dead-lettered, and for an unreadable result.
    var outcome: String?
    /// Class and code of the failure, such as `schema` and `required`.
    var failureClass: String?
    var failureCode: String?
    /// The failure as a sentence.
    var message: String?
    /// Status of the response from APNs.
    var status: Int?
    var reason: String?
    var deviceToken: ShortToken?
    var attempts: Int?
    /// Whether the request is a duplicate that was not pushed. The outcome is the outcome of the first delivery.
    var isDuplicate = false
    /// The time at which the outcome was determined, or at which the worker or broker dead-lettered the message.
    var unixMilliseconds: Int64?
    var messageID: String?
    /// Size of a dead letter's body, which is the request's body; nil for other messages.
    var bodyBytes: Int?

    /// Reads a message.
    ///
    /// - Parameter isResult: whether the message is from the result exchange.
    init(_ message: IncomingMessage, isResult: Bool) {
        let properties = message.properties
        self =
            isResult
            ? WatchedMessage(result: message.body, messageID: properties.messageID, type: properties.type)
            : WatchedMessage(
                deadLetter: message.body, messageID: properties.messageID, headers: properties.headers ?? FieldTable())
    }

    /// Reads a message of the result exchange.
    init(result body: [UInt8], messageID: String?, type: String? = nil) {
        kind = type == ChannelReply.type ? .channelReply : .result
        self.messageID = messageID
        id = messageID
        guard let document = try? JSONDocument(body) else {
            message = "the body is not JSON"
            return
        }
        let root = document.root
        id = root["id"]?.string ?? messageID
        app = root["app"]?.string
        outcome = root["outcome"]?.string
        failureClass = root["error"]?["class"]?.string
        failureCode = root["error"]?["code"]?.string
        message = root["error"]?["message"]?.string ?? root["message"]?.string
        status = root["status"]?.int
        reason = root["reason"]?.string
        deviceToken = root["device_token"]?.string.map { ShortToken($0) }
        attempts = root["attempts"]?.int
        isDuplicate = root["duplicate"]?.bool ?? false
        unixMilliseconds = root["finished_at"]?.int64
    }

    /// Reads a message of the dead-letter exchange, or a message that the broker dead-lettered.
    init(deadLetter body: [UInt8], messageID: String?, headers: FieldTable) {
        kind = .deadLetter
        self.messageID = messageID
        bodyBytes = body.count
        id = headers[MessageHeaderName.apnsID]?.stringValue ?? messageID
        outcome = headers[MessageHeaderName.outcome]?.stringValue
        failureClass = headers[MessageHeaderName.reasonClass]?.stringValue
        failureCode = headers[MessageHeaderName.reasonCode]?.stringValue
        message = headers[MessageHeaderName.reason]?.stringValue
        status = headers[MessageHeaderName.apnsStatus]?.integerValue.flatMap { Int(exactly: $0) }
        attempts = headers[MessageHeaderName.attempt]?.integerValue.flatMap { Int(exactly: $0) }
        unixMilliseconds = headers[MessageHeaderName.failedAt]?.integerValue
        if failureClass == "apns" { reason = failureCode }
        if failureClass == nil, let death = BrokerDeath(headers) {
            failureClass = "broker"
            failureCode = death.reason
            unixMilliseconds = death.unixMilliseconds ?? unixMilliseconds
        }
        guard let document = try? JSONDocument(body) else { return }
        let request = CloudEvent.request(in: document.root)
        app = request["app"]?.string
        deviceToken = request["device_token"]?.string.map { ShortToken($0) }
    }

    /// Returns the milliseconds since `unixMilliseconds`; nil if that time is unknown or in the future.
    func ageMilliseconds(at nowUnixMilliseconds: Int64) -> Int64? {
        Age.milliseconds(since: unixMilliseconds, at: nowUnixMilliseconds)
    }

    /// Class and code of the failure, such as `schema.required`. A result without a class has the reason of APNs,
    /// such as `apns.Unregistered`.
    var failure: String? {
        guard let failureClass else { return reason.map { "apns.\($0)" } }
        return [failureClass, failureCode].compactMap(\.self).joined(separator: ".")
    }

    var tint: Tint {
        switch (kind, outcome) {
        case (.result, "accepted"): .good
        case (.result, "expired"): .warning
        case (.channelReply, "done"): .good
        case (.result, _), (.channelReply, _): .bad
        case (.deadLetter, _): .warning
        }
    }
}
