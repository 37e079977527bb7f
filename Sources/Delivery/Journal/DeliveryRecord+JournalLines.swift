import AMQP
import Crypto
import JSON
import Text

/// The objects of a request's lines in the journal.
extension DeliveryRecord {
    /// The maximum size of a class or code.
    private static let textBytesMax = 128
    private static let appBytesMax = 255
    /// The maximum size of a body in a sample.
    private static let bodyBytesMax = 16 << 10
    private static let headersMax = 64
    /// The maximum size of a header's name and of its value in a sample. A longer header is omitted.
    private static let headerBytesMax = 1024
    /// The maximum size of all headers in a sample. It leaves room for a body of the maximum size in the line.
    private static let allHeadersBytesMax = 6 << 10

    /// Returns whether the wait is the first, or has another reason than the previous one.
    func beginsWait(_ wait: Wait) -> Bool {
        guard attempts.rounds > 0 else { return true }
        let former = delivery.properties.header(MessageHeaderName.reasonCode)?.stringValue
        return former != wait.reason.cut(to: MessageHeaderName.copyBytesMax)
    }

    /// Returns the object of a wait; nil if the request has no identity or app.
    func waitLine(_ wait: Wait, queue: String, _ apps: AppDirectory) -> [UInt8]? {
        guard let id, let app = bundleID(apps), !app.isEmpty else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.member("at", endedAtMilliseconds)
        json.member("id", id.description)
        json.member("app", app.cut(to: Self.appBytesMax))
        var user = fanoutOrigin?.user
        switch target {
        case .device(let token): json.member("device_token", String(decoding: token, as: UTF8.self))
        case .user(let bytes): user = user ?? String(decoding: bytes, as: UTF8.self)
        case .channel, nil: break
        }
        if let user, !user.isEmpty { json.member("user", user) }
        json.member("code", wait.code.cut(to: Self.textBytesMax))
        json.member("attempts", wait.attempts.before)
        json.member("queue", queue)
        let sibling = MessageFactory.sibling(of: wait)
        json.member("until", endedAtMilliseconds + wait.milliseconds(sibling: sibling))
        json.endObject()
        return json.bytes
    }

    /// Returns the object of a dead letter.
    func sampleLine(_ reason: DeadLetterReason, app: String?, _ message: OutgoingMessage) -> [UInt8] {
        let body = delivery.content.withBody { Array($0.prefix(Self.bodyBytesMax)) }
        var json = JSONWriter(capacity: body.count * 4 / 3 + Self.allHeadersBytesMax)
        json.beginObject()
        json.member("at", endedAtMilliseconds)
        if let id { json.member("id", id.description) }
        if let app, !app.isEmpty { json.member("app", app.cut(to: Self.appBytesMax)) }
        json.member("class", reason.deadClass.cut(to: Self.textBytesMax))
        json.member("code", reason.code.cut(to: Self.textBytesMax))
        if let path = reason.path { json.member("path", path.cut(to: MessageHeaderName.textBytesMax)) }
        Self.write(message.headers, to: &json)
        json.member("body", Base64.encode(body))
        if delivery.content.body.count > body.count { json.member("truncated", true) }
        json.endObject()
        return json.bytes
    }

    /// Writes the texts among the headers, as far as they fit.
    private static func write(_ headers: FieldTable, to json: inout JSONWriter) {
        json.beginObject("headers")
        let start = json.bytes.count
        var (count, names) = (0, Set<String>())
        for entry in headers.entries {
            guard case .string(let value) = entry.value, max(entry.name.utf8.count, value.utf8.count) <= headerBytesMax,
                names.insert(entry.name).inserted
            else { continue }
            // An escape is up to six times as long as its character.
            let size = 6 * (entry.name.utf8.count + value.utf8.count) + 6
            guard count < headersMax, json.bytes.count - start + size <= allHeadersBytesMax else { continue }
            json.key(entry.name)
            json.string(value)
            count += 1
        }
        json.endObject()
    }
}
