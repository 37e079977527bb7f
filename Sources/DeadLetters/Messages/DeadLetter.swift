import AMQP
import Delivery
import JSON

/// A dead letter as an operator sees it, without its body. Everything in it came from outside and may be anything.
package struct DeadLetter: Sendable {
    /// That of the notification, where the worker could tell; else the message's own.
    package var id: String
    /// What was wrong, in two words: `apns` and `BadDeviceToken`; `broker` where the broker itself gave the message up.
    package var failureClass: String
    package var code: String
    package var app: String?
    /// The `type` of the AMQP message, which says what schema its producer wrote it by.
    package var schema: String?
    package var outcome: String?
    /// A sentence.
    package var reason: String?
    /// JSON pointer into the body.
    package var path: String?
    package var status: Int64?
    package var attempts: Int64?
    /// The queue of requests that it came from; nil where no source confirms it.
    package var queue: String?
    /// Whole; shown shortened.
    package var deviceToken: String?
    /// UNIX milliseconds.
    package var failedAt: Int64?
    package var bodyBytes: Int

    /// - Parameter bodyBytes: of a body that was not kept.
    package init(_ copy: RepublishableMessage, bodyBytes: Int? = nil) {
        let headers = copy.headers
        func text(_ name: String) -> String? { headers[name]?.stringValue }
        id = text(MessageHeaderName.apnsID) ?? copy.messageID ?? "-"
        failureClass = text(MessageHeaderName.reasonClass) ?? "-"
        code = text(MessageHeaderName.reasonCode) ?? "-"
        schema = copy.type
        outcome = text(MessageHeaderName.outcome)
        reason = text(MessageHeaderName.reason)
        path = text(MessageHeaderName.errorPath)
        status = headers[MessageHeaderName.apnsStatus]?.integerValue
        attempts = headers[MessageHeaderName.attempt]?.integerValue
        queue = copy.provenance == .worker ? text(MessageHeaderName.originQueue) : nil
        failedAt = headers[MessageHeaderName.failedAt]?.integerValue
        self.bodyBytes = bodyBytes ?? copy.body.count
        if copy.provenance == .broker || text(MessageHeaderName.reasonClass) == nil, let death = BrokerDeath(headers) {
            failureClass = "broker"
            code = death.reason ?? "-"
            if copy.provenance != .unknown { queue = queue ?? death.queue }
            failedAt = death.unixMilliseconds ?? failedAt
        }
        guard let body = try? JSONDocument(copy.body).root else { return }
        let root = CloudEvent.request(in: body)
        app = root["app"]?.string
        deviceToken = root["device_token"]?.string
        if id == "-" { id = root["id"]?.string ?? id }
    }

    /// Reads what the body of a result says (`schemas/result.schema.json`): results have no such headers.
    package mutating func readResult(_ body: [UInt8]) {
        guard let root = try? JSONDocument(body).root else { return }
        outcome = root["outcome"]?.string
        failureClass = root["error"]?["class"]?.string ?? failureClass
        code = root["error"]?["code"]?.string ?? code
        reason = root["error"]?["message"]?.string
        path = root["error"]?["path"]?.string
        status = root["status"]?.int64
        attempts = root["attempts"]?.int64
        failedAt = root["finished_at"]?.int64
    }

    /// Since it failed; nil when that is not told or lies ahead.
    package func ageMilliseconds(at nowUnixMilliseconds: Int64) -> Int64? {
        Age.milliseconds(since: failedAt, at: nowUnixMilliseconds)
    }
}
