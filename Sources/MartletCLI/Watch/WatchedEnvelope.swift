import AMQP
import APNSProtocol
import Crypto
import DeadLetters
import JSON

/// A message as it was published: destination, properties, headers and body. The content is untrusted.
struct WatchedEnvelope {
    /// Limits of a JSON body: the default size limit of a message in RabbitMQ 4.
    private static let limits = JSONLimits(bytesMax: 16 << 20)

    var exchange: String
    var routingKey: String
    /// The text properties that are printed, by their JSON names.
    var properties: [(name: StaticString, value: String)] = []
    /// The time at which the message was published, according to its own properties.
    var timestampSeconds: UInt64?
    var headers = FieldTable()
    var body: [UInt8]

    /// Appends members to the open object. Shortens every possible device token, unless `revealsTokens` is set.
    func write(to json: inout JSONWriter, revealsTokens: Bool) {
        let writer = Shortening(isOff: revealsTokens)
        json.member("exchange", exchange)
        json.member("routing_key", writer.text(routingKey))
        json.beginObject("properties")
        for (name, value) in properties { json.member(name, writer.text(value)) }
        if let seconds = timestampSeconds.flatMap({ Int64(exactly: $0) }) { json.member("timestamp", seconds) }
        json.endObject()
        json.key("headers")
        writer.write(headers, to: &json)
        writeBody(to: &json, writer)
    }

    private func writeBody(to json: inout JSONWriter, _ writer: Shortening) {
        guard (try? JSONDocument(body, limits: Self.limits)) != nil else {
            return json.member("body_base64", Base64.encode(writer.isOff ? body : writer.bytes(body)))
        }
        // Line breaks and tabs in JSON occur only between tokens, because strings contain them only as escapes.
        let line = writer.bytes(body).map { [0x0A, 0x0D, 0x09].contains($0) ? UInt8(ascii: " ") : $0 }
        json.key("body")
        // A number with as many digits as a token is no longer a number after shortening.
        if (try? JSONDocument(line, limits: Self.limits)) != nil {
            json.raw(escaping: line)
        } else {
            json.string(String(decoding: line, as: UTF8.self))
        }
    }

    private struct Shortening {
        let isOff: Bool

        func bytes(_ text: [UInt8]) -> [UInt8] {
            isOff ? text : DeviceToken.shortened(in: text)
        }

        func text(_ text: String) -> String {
            isOff ? text : String(decoding: bytes(Array(text.utf8)), as: UTF8.self)
        }

        func write(_ table: FieldTable, to json: inout JSONWriter) {
            json.beginObject()
            for entry in table.entries {
                json.key(text(entry.name))
                write(entry.value, to: &json)
            }
            json.endObject()
        }

        func write(_ value: FieldValue, to json: inout JSONWriter) {
            switch value {
            case .boolean(let flag): json.bool(flag)
            case .integer(let number): json.int(number)
            case .string(let string): json.string(text(string))
            case .bytes(let data): json.string(Base64.encode(bytes(data)))
            case .timestamp(let seconds): json.int(Int64(clamping: seconds))
            case .double(let number): json.double(number)
            case .decimal: json.string(MessageLine.decimal(value))
            case .table(let table): write(table, to: &json)
            case .array(let values):
                json.beginArray()
                for value in values { write(value, to: &json) }
                json.endArray()
            case .void, .unreadable: json.null()
            }
        }
    }
}

extension WatchedEnvelope {
    init(_ message: IncomingMessage) {
        let properties = message.properties
        let texts: [(StaticString, String?)] = [
            ("message_id", properties.messageID), ("correlation_id", properties.correlationID),
            ("content_type", properties.contentType), ("content_encoding", properties.contentEncoding),
            ("type", properties.type), ("app_id", properties.appID), ("reply_to", properties.replyTo),
        ]
        self.init(
            exchange: message.exchange, routingKey: message.routingKey,
            properties: texts.compactMap { name, value in value.map { (name, $0) } },
            timestampSeconds: properties.timestampSeconds, headers: properties.headers ?? FieldTable(),
            body: message.body)
    }
}
