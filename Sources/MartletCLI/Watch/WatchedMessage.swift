import AMQP
import CommandKit
import DeadLetters
import Delivery
import JSON
import Telemetry

/// A result or dead letter as an operator sees it, or a reply to a channel command that went to the results. Everything in
/// it came from outside and may be anything.
struct WatchedMessage: Equatable {
    enum Kind: String {
        case result
        case deadLetter = "dead_letter"
        case channelReply = "channel_reply"
    }

    var kind: Kind
    /// nil where it could not be read.
    var id: String?
    var app: String?
    /// `accepted`, `rejected`, …; nil for what the broker itself gave up.
    var outcome: String?
    /// What was wrong, in two words: `schema` and `required`.
    var failureClass: String?
    var failureCode: String?
    /// What was wrong, in a sentence.
    var message: String?
    /// APNs' answer.
    var status: Int?
    var reason: String?
    var deviceToken: ShortToken?
    var attempts: Int?
    /// A copy that was not pushed: the outcome is that of the first.
    var isDuplicate = false
    /// When it was published: the worker knew the outcome, or gave the message up.
    var unixMilliseconds: Int64?
    var messageID: String?
    /// Of the dead letter's body, which is the request's own.
    var bodyBytes: Int?

    /// - Parameter isResult: it came from the exchange of results.
    init(_ message: IncomingMessage, isResult: Bool) {
        let properties = message.properties
        self =
            isResult
            ? WatchedMessage(result: message.body, messageID: properties.messageID, type: properties.type)
            : WatchedMessage(
                deadLetter: message.body, messageID: properties.messageID, headers: properties.headers ?? FieldTable())
    }

    /// A message of the exchange of results.
    init(result body: [UInt8], messageID: String?, type: String? = nil) {
        kind = type == ChannelReply.type ? .channelReply : .result
        self.messageID = messageID
        id = messageID
        guard let document = try? JSONDocument(body) else {
            message = "the result is not JSON"
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

    /// A message of the exchange of dead letters, or one that the broker itself gave up.
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

    /// Since it was published; nil when that is not told or lies ahead.
    func ageMilliseconds(at nowUnixMilliseconds: Int64) -> Int64? {
        Age.milliseconds(since: unixMilliseconds, at: nowUnixMilliseconds)
    }

    /// The class and code of what was wrong: `schema.required`, and `apns.Unregistered` also where nobody has to act.
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
