import AMQP
import CommandKit
import DeadLetters
import Delivery
import JSON
import Registrations
import Telemetry

/// A message of the result exchange, or a dead letter. The content is untrusted.
struct WatchedMessage: Equatable {
    enum Kind: String {
        case result
        case deadLetter = "dead_letter"
        case channelReply = "channel_reply"
        case registrationReply = "registration_reply"
        /// An event about a change of a registration.
        case registrationEvent = "registration_event"
        /// The report on a request to users, with the number of devices.
        case report

        /// Creates the kind of a message of the result exchange from the AMQP property `type`.
        init(type: String?) {
            switch type {
            case ChannelReply.type: self = .channelReply
            case RegistrationReply.type: self = .registrationReply
            case RegistrationEvent.type: self = .registrationEvent
            case FanoutReport.type: self = .report
            default: self = .result
            }
        }
    }

    var kind: Kind
    /// The id of the notification, or the message-id if the id cannot be read; nil without either.
    var id: String?
    /// For the result of one device: the id of the request to users. Nil for other messages.
    var requestID: String?
    /// The number of devices of a report, or of a result of a request to one user.
    var devices: Int?
    var app: String?
    /// The outcome, such as `accepted`, or the change of a registration, such as `pruned`. nil for a report, for a
    /// message that the broker dead-lettered, and for an unreadable result.
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
        kind = Kind(type: type)
        self.messageID = messageID
        id = messageID
        guard let document = try? JSONDocument(body) else {
            message = "the body is not JSON"
            return
        }
        let root = document.root
        id = root["id"]?.string ?? messageID
        requestID = root["request_id"]?.string
        devices = root["devices"]?.int
        app = root["app"]?.string
        outcome = root[kind == .registrationEvent ? "event" : "outcome"]?.string
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

    /// Returns the milliseconds since `unixMilliseconds`; nil if that time is unknown or in the future, or if the
    /// difference overflows.
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
        case (.result, "accepted"), (.channelReply, "done"): .good
        case (.result, "expired"), (.deadLetter, _): .warning
        case (.result, _), (.channelReply, _), (.registrationReply, "invalid"): .bad
        case (.registrationReply, _): .good
        case (.registrationEvent, "pruned"), (.registrationEvent, "suspended"): .warning
        case (.registrationEvent, _): .good
        case (.report, _): devices == 0 ? .warning : .good
        }
    }
}
