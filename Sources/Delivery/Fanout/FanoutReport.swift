import AMQP
import APNSProtocol
import Crypto
import JSON

/// The report on a request to users (`schemas/fanout.schema.json`). It counts the children and the users without a
/// device. Each child has its own result. The report has no app or environment if the worker did not read the body.
package enum FanoutReport {
    /// The AMQP property `type` of a report.
    package static let type = "push.fanout.v1"

    static func make(
        for record: DeliveryRecord, _ cursor: FanoutCursor, _ apps: AppDirectory, finishedAtMilliseconds: Int64,
        exchange: String
    ) -> OutgoingMessage {
        let app = record.bundleID(apps)
        var headers = FieldTable()
        record.copyTraceContext(to: &headers)
        let id = record.messageID
        return OutgoingMessage(
            exchange: exchange, routingKey: RoutingKey.fanout(app: app),
            content: body(record, cursor, app, finishedAtMilliseconds)[...], messageID: id, correlationID: id,
            type: type, headers: headers)
    }

    private static func body(
        _ record: DeliveryRecord, _ cursor: FanoutCursor, _ app: String?, _ finishedAtMilliseconds: Int64
    ) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        if let id = record.id { json.member("id", id.description) }
        if let app { json.member("app", app) }
        if let environment = record.environment { json.member("environment", environment.rawValue) }
        json.member("devices", cursor.deviceCount)
        json.member("users_without_device", cursor.usersWithoutDevice)
        json.member("possible_duplicate", record.attempts.possibleDuplicate)
        json.member("received_at", record.receivedAtMilliseconds)
        json.member("finished_at", finishedAtMilliseconds)
        json.endObject()
        return json.bytes
    }
}
