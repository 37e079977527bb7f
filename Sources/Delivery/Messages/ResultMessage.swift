import AMQP
import APNSProtocol
import Crypto
import JSON
import Text

/// The result of a request (`schemas/result.schema.json`).
enum ResultMessage {
    /// The memory for the body of an accepted request.
    private static let capacity = 640

    /// Returns the message.
    ///
    /// - Parameters:
    ///   - laneMembers: The constant members of the lane (``laneMembers(queue:worker:)``); empty for none.
    ///   - history: The earlier rounds of the request.
    static func make(
        for record: DeliveryRecord, _ finalOutcome: FinalOutcome, _ apps: AppDirectory, finishedAtMilliseconds: Int64,
        exchange: String, laneMembers: [UInt8] = [], history: RequestHistory? = nil
    ) -> OutgoingMessage {
        let routingKey =
            switch record.app {
            case .configured(let app): apps.resultRoutingKey(of: app, finalOutcome.outcome)
            case .unknown(let app): RoutingKey.result(finalOutcome.outcome, app: app)
            case nil: RoutingKey.result(finalOutcome.outcome, app: nil)
            }
        var headers = FieldTable()
        record.copyTraceContext(to: &headers)
        let id = record.messageID
        return OutgoingMessage(
            exchange: exchange, routingKey: routingKey,
            content: body(record, finalOutcome, apps, finishedAtMilliseconds, laneMembers, history)[...],
            messageID: id, correlationID: id, type: "push.result.v1", headers: headers)
    }

    /// Returns the members of all results of the requests that a lane receives from one queue, encoded once.
    static func laneMembers(queue: String, worker: String) -> [UInt8] {
        var json = JSONWriter(capacity: 128)
        json.member("queue", queue)
        json.member("worker", worker)
        return json.bytes
    }

    static func body(
        _ record: DeliveryRecord, _ finalOutcome: FinalOutcome, _ apps: AppDirectory, _ finishedAtMilliseconds: Int64,
        _ laneMembers: [UInt8] = [], _ history: RequestHistory? = nil
    ) -> [UInt8] {
        var json = JSONWriter(capacity: capacity)
        json.beginObject()
        if let id = record.id { json.member("id", id) }
        if let origin = record.fanoutOrigin { json.member("request_id", origin.requestID) }
        if let app = record.bundleID(apps) { json.member("app", app) }
        if let environment = record.environment { json.member("environment", environment.rawValue) }
        switch record.target {
        case .device(let token): json.member("device_token", token)
        case .channel(let id): json.member("channel_id", id)
        case .user(let user): json.member("user", user)
        case nil: break
        }
        if let pushType = record.pushType { json.member("push_type", pushType.rawValue) }
        if let origin = record.fanoutOrigin { json.member("user", origin.user) }
        if let count = deviceCount(record, finalOutcome) { json.member("devices", count) }
        json.member("outcome", finalOutcome.outcome.rawValue)
        if let answer = finalOutcome.answer {
            json.member("status", answer.status)
            if let reason = answer.reason { json.member("reason", reason) }
            if let timestamp = answer.timestampMilliseconds { json.member("timestamp", timestamp) }
            if let id = answer.apnsUniqueID { json.member("apns_unique_id", id) }
            if let id = answer.apnsRequestID { json.member("apns_request_id", id) }
        }
        if let state = finalOutcome.tokenState { json.member("token_state", state.rawValue) }
        if let reason = finalOutcome.error { json.member("error", reason) }
        json.member("attempts", record.attemptsMade)
        json.member("possible_duplicate", record.attempts.possibleDuplicate)
        if record.isDuplicate { json.member("duplicate", true) }
        if let published = record.publishedAtMilliseconds { json.member("published_at", published) }
        json.member("received_at", record.receivedAtMilliseconds)
        if let sent = record.sentAtMilliseconds { json.member("sent_at", sent) }
        json.member("finished_at", finishedAtMilliseconds)
        if !laneMembers.isEmpty { json.members(encoded: laneMembers) }
        if let history, !history.entries.isEmpty { json.member("history", history) }
        json.endObject()
        return json.bytes
    }

    /// Returns the number of devices of a request to one user for which no report is published; nil for any other
    /// request.
    private static func deviceCount(_ record: DeliveryRecord, _ finalOutcome: FinalOutcome) -> Int? {
        if let origin = record.fanoutOrigin { return origin.isOnlyDevice ? 1 : nil }
        return finalOutcome.failure != nil && finalOutcome == .noDevice ? 0 : nil
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ id: UUIDValue) {
        key(name)
        id.withText { string(utf8: $0) }
    }

    fileprivate mutating func member(_ name: StaticString, _ slice: ArraySlice<UInt8>) {
        key(name)
        slice.withUnsafeBytes { string(utf8: $0) }
    }

    fileprivate mutating func member(_ name: StaticString, _ history: RequestHistory) {
        beginArray(name)
        for entry in history.entries {
            beginObject()
            member("at", entry.at)
            member("event", entry.event.rawValue)
            member("code", entry.code)
            member("rounds", entry.rounds)
            if let until = entry.until { member("until", until) }
            endObject()
        }
        endArray()
    }

    fileprivate mutating func member(_ name: StaticString, _ reason: DeadLetterReason) {
        key(name)
        beginObject()
        member("class", reason.deadClass)
        member("code", reason.code)
        if let path = reason.path { member("path", path.cut(to: MessageHeaderName.textBytesMax)) }
        member("message", reason.sentence.cut(to: MessageHeaderName.textBytesMax))
        endObject()
    }
}
