package import AMQP
import Crypto
import Delivery
package import JSON

/// A message as one line of JSON, in the format of `martlet dead-letters export`. The body can be restored byte for
/// byte.
///
/// A UTF-8 body is the member `body`. Any other body is `body_base64`. Header values that are strings, integers,
/// booleans, null or arrays are JSON values. An unreadable value is null. A value of another type is an object with one
/// member that names the type.
package enum MessageLine {
    /// Maximum length of a line in bytes.
    package static let bytesMax = 128 << 20
    private static let limits = JSONLimits(bytesMax: bytesMax, depthMax: 128)

    package struct Mistake: Error, Equatable {
        package var position: JSONPosition?
        package var message: String
    }

    package static func text(of copy: RepublishableMessage) -> [UInt8] {
        var json = JSONWriter(capacity: copy.body.count + 1024)
        json.beginObject()
        if let text = String(validating: copy.body, as: UTF8.self) {
            json.member("body", text)
        } else {
            json.member("body_base64", Base64.encode(copy.body))
        }
        json.beginObject("properties")
        for (name, path) in texts {
            guard let text = copy[keyPath: path] else { continue }
            json.key(name)
            json.string(text)
        }
        // Clamp the time to `Int64`, because many JSON readers accept no larger numbers. No realistic time is larger.
        if let seconds = copy.timestampSeconds { json.member("timestamp", Int64(clamping: seconds)) }
        if let priority = copy.priority { json.member("priority", Int64(priority)) }
        json.endObject()
        json.key("headers")
        write(copy.headers, &json)
        if copy.provenance != .unknown { json.member("provenance", copy.provenance.rawValue) }
        json.endObject()
        return json.bytes
    }

    private static var texts: [(name: String, path: WritableKeyPath<RepublishableMessage, String?>)] {
        [
            ("message_id", \.messageID), ("content_type", \.contentType), ("content_encoding", \.contentEncoding),
            ("correlation_id", \.correlationID), ("reply_to", \.replyTo), ("type", \.type), ("app_id", \.appID),
        ]
    }

    private static func write(_ table: FieldTable, _ json: inout JSONWriter) {
        json.beginObject()
        var names: Set<String> = []
        for entry in table.entries where names.insert(entry.name).inserted {
            json.key(entry.name)
            write(entry.value, &json)
        }
        json.endObject()
    }

    private static func write(_ value: FieldValue, _ json: inout JSONWriter) {
        switch value {
        case .string(let text): json.string(text)
        case .integer(let number): json.int(number)
        case .boolean(let flag): json.bool(flag)
        case .void, .unreadable: json.null()
        case .array(let values):
            json.beginArray()
            for value in values { write(value, &json) }
            json.endArray()
        case .bytes, .timestamp, .double, .decimal, .table:
            json.beginObject()
            switch value {
            case .bytes(let bytes): json.member("base64", Base64.encode(bytes))
            // Write strings, because many readers round large JSON numbers, and JSON has no infinite numbers.
            case .timestamp(let seconds): json.member("timestamp", "\(seconds)")
            case .double(let number): json.member("double", "\(number)")
            case .decimal: json.member("decimal", decimal(value))
            case .table(let table):
                json.key("table")
                write(table, &json)
            case .string, .integer, .boolean, .void, .unreadable, .array: break
            }
            json.endObject()
        }
    }

    /// Parses a line.
    ///
    /// - Throws: the mistake in the line.
    package static func message(_ line: [UInt8]) throws(Mistake) -> RepublishableMessage {
        let document: JSONDocument
        do {
            document = try JSONDocument(line, limits: limits)
        } catch {
            throw Mistake(position: error.position, message: error.message)
        }
        let root = document.root
        func mistake(_ value: JSONValue, _ message: String) -> Mistake {
            Mistake(position: document.position(of: value), message: message)
        }
        var copy: RepublishableMessage
        if let body = root["body"], let bytes = body.withUTF8({ Array($0) }) {
            copy = RepublishableMessage(body: bytes)
        } else if let body = root["body_base64"] {
            guard let bytes = body.string.flatMap(Base64.decode) else { throw mistake(body, "invalid base64") }
            copy = RepublishableMessage(body: bytes)
        } else {
            throw mistake(root, "expected an object with \"body\" or \"body_base64\"")
        }
        if let properties = root["properties"] {
            for (name, path) in texts {
                guard let value = properties[key: name] else { continue }
                guard let text = value.string, text.utf8.count <= 255 else {
                    throw mistake(value, "\(name) must be a string of at most 255 bytes")
                }
                copy[keyPath: path] = text
            }
            if let value = properties["timestamp"] {
                guard let seconds = value.int64.flatMap({ UInt64(exactly: $0) }) else {
                    throw mistake(value, "timestamp must be a whole number of at least 0, in seconds")
                }
                copy.timestampSeconds = seconds
            }
            if let value = properties["priority"] {
                guard let priority = value.int64.flatMap({ UInt8(exactly: $0) }) else {
                    throw mistake(value, "priority must be a whole number from 0 to 255")
                }
                copy.priority = priority
            }
        }
        if let headers = root["headers"] {
            guard let table = table(headers) else { throw mistake(headers, "invalid header") }
            copy.headers = table
        }
        if let value = root["provenance"] {
            guard let provenance = value.string.flatMap(Provenance.init) else {
                throw mistake(value, "provenance must be worker, broker or unknown")
            }
            copy.provenance = provenance
        }
        return copy
    }

    private static func table(_ json: JSONValue) -> FieldTable? {
        guard json.kind == .object else { return nil }
        var table = FieldTable()
        for member in json.members {
            let name = member.key.string ?? ""
            guard name.utf8.count <= 255, let value = value(member.value) else { return nil }
            table.append(name, value)
        }
        return table
    }

    private static func value(_ json: JSONValue) -> FieldValue? {
        switch json.kind {
        case .string: return json.string.map { .string($0) }
        case .number: return json.int64.map { .integer($0) }
        case .boolean: return json.bool.map { .boolean($0) }
        case .null: return .void
        case .array:
            var values: [FieldValue] = []
            for element in json.elements {
                guard let value = value(element) else { return nil }
                values.append(value)
            }
            return .array(values)
        case .object:
            if let text = json["base64"]?.string { return Base64.decode(text).map { .bytes($0) } }
            if let text = json["timestamp"]?.string { return UInt64(text).map { .timestamp(seconds: $0) } }
            if let text = json["double"]?.string { return Double(text).map { .double($0) } }
            if let text = json["decimal"]?.string { return decimal(text) }
            return json["table"].flatMap(table).map { .table($0) }
        }
    }

    /// Formats a decimal as an integer with its scale, such as `1234e-2`. Returns an empty string for values of other
    /// types.
    package static func decimal(_ value: FieldValue) -> String {
        if case .decimal(let scale, let number) = value { "\(number)e-\(scale)" } else { "" }
    }

    private static func decimal(_ text: String) -> FieldValue? {
        guard let sign = text.firstRange(of: "e-"), let number = UInt32(text[..<sign.lowerBound]),
            let scale = UInt8(text[sign.upperBound...])
        else { return nil }
        return .decimal(scale: scale, value: number)
    }
}
