import AMQP
import Delivery
import JSON

/// A dead letter without its body, for operators. The content is untrusted.
package struct DeadLetter: Sendable {
    /// The id of the notification if the worker could read it; otherwise the message-id, the id in the body, or `-`.
    package var id: String
    /// Class and code of the failure, such as `apns` and `BadDeviceToken`. The class is `broker` if the broker
    /// dead-lettered the message.
    package var failureClass: String
    package var code: String
    package var app: String?
    /// The AMQP property `type`, which names the schema of the request.
    package var schema: String?
    package var outcome: String?
    /// The failure as a sentence.
    package var reason: String?
    /// The JSON pointer to the mistake in the body.
    package var path: String?
    package var status: Int64?
    package var attempts: Int64?
    /// The original queue, or the queue from which the broker dead-lettered the message; nil if the queue is unknown or
    /// no trusted source confirms it.
    package var queue: String?
    /// The complete device token, which output shortens.
    package var deviceToken: String?
    /// The time of the failure, in UNIX milliseconds.
    package var failedAt: Int64?
    package var bodyBytes: Int

    /// Reads a dead letter from a message.
    ///
    /// - Parameter bodyBytes: the size of a body that was not kept; nil if the message has its body.
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

    /// Reads the values from a result's body (`schemas/result.schema.json`), since results have no headers for them.
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

    /// Returns the milliseconds since the failure; nil if the time of the failure is unknown or in the future, or if
    /// the difference overflows.
    package func ageMilliseconds(at nowUnixMilliseconds: Int64) -> Int64? {
        Age.milliseconds(since: failedAt, at: nowUnixMilliseconds)
    }
}
