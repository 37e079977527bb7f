import APNSProtocol
import Crypto
import HTTP2
public import JSON

extension LoggedRequest {
    /// Amount of data that is written for a request.
    public enum Detail: String, CaseIterable, Sendable {
        /// The most important members, without headers and payload.
        case summary
        /// All members, including headers and payload.
        case full
    }

    /// Writes a JSON object.
    ///
    /// - Parameter showsTokens: whether to write complete device tokens instead of shortened ones.
    public func write(to json: inout JSONWriter, _ detail: Detail, showsTokens: Bool = false) {
        withView { view in
            // Swapping avoids a copy of the bytes that `json` already has.
            var writer = RequestWriter(view: view, showsTokens: showsTokens, json: JSONWriter(capacity: 0))
            swap(&writer.json, &json)
            writer.write(detail)
            swap(&writer.json, &json)
        }
    }
}

private struct RequestWriter {
    let view: RequestView
    let showsTokens: Bool
    var json: JSONWriter

    mutating func write(_ detail: LoggedRequest.Detail) {
        let entry = view.entry
        json.beginObject()
        json.member("number", view.number)
        json.member("unix_ms", entry.unixMilliseconds)
        if entry.answeredUnixMilliseconds != 0 { json.member("answered_unix_ms", entry.answeredUnixMilliseconds) }
        entry.service.write(to: &json)
        json.member("connection", entry.connection)
        json.member("stream", Int64(entry.stream))
        if detail == .full {
            member("method", view[HeaderName.method])
            if let path = view[HeaderName.path] {
                json.key("path")
                writePath(path)
            }
            writeHeaders()
            member("authorization", view[HeaderName.authorization])
        }
        if entry.hasCertificate { json.member("certificate", true) }
        if let id = entry.id { json.member("apns_id", id.description) }
        if let token = view.deviceToken {
            json.key("device_token")
            writeToken(token)
            if detail == .full {
                json.member("device", DeviceKey.of(token))
                if !DeviceToken.isWellFormed(token) { json.member("device_malformed", true) }
            }
        }
        if let topic = view[HeaderName.apnsTopic] {
            member("topic", topic)
        } else if let topic = view.topicOfPath {
            // The bundle ID in the path may be a misplaced device token.
            json.key("topic")
            writePath(topic)
        }
        member("push_type", view[HeaderName.apnsPushType])
        number("priority", view[HeaderName.apnsPriority])
        if detail == .full {
            member("collapse_id", view[HeaderName.apnsCollapseID])
            number("expiration", view[HeaderName.apnsExpiration])
            member("channel_id", view[HeaderName.apnsChannelID])
        }
        json.member("payload_bytes", entry.payloadByteCount)
        if detail == .full { member("payload", view.payload) }
        if view.isPayloadWhole { json.member("payload_sha256", SHA256Value(of: view.payload).description) }
        if entry.status != 0 { json.member("status", Int(entry.status)) }
        if entry.isMalformed { json.member("reset", HTTP2ErrorCode.protocolError.description) }
        member("malformed_field", view.malformedField)
        if !view.reason.isEmpty { member("reason", view.reason) }
        if let detail = entry.detail { json.member("detail", detail.rawValue) }
        if !view.faultID.isEmpty { member("fault", view.faultID) }
        if detail == .full || entry.isDuplicate { json.member("duplicate", entry.isDuplicate) }
        json.endObject()
    }

    private mutating func member(_ name: StaticString, _ text: UnsafeRawBufferPointer?) {
        guard let text else { return }
        json.key(name)
        json.string(utf8: text)
    }

    /// Writes a header value of digits as a number if the number fits in 64 bits. Writes any other value as text.
    private mutating func number(_ name: StaticString, _ text: UnsafeRawBufferPointer?) {
        guard let text else { return }
        json.key(name)
        let digits = text.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        if digits, let number = Int64(String(decoding: text, as: UTF8.self)) {
            json.int(number)
        } else {
            json.string(utf8: text)
        }
    }

    private mutating func writeHeaders() {
        let hidden = view.entry.hidesMalformedValue ? view.headers.reduce(-1) { index, _ in index + 1 } : nil
        json.beginArray("headers")
        for (index, header) in view.headers.enumerated() {
            json.beginObject()
            member("name", header.name)
            if index != hidden { writeValue(of: header) }
            if let form = header.representation.form {
                json.member("representation", form.word)
                json.member("huffman", header.representation.isValueHuffman)
            }
            json.endObject()
        }
        json.endArray()
    }

    private mutating func writeValue(of header: HeaderRecord) {
        json.key("value")
        if header.name.equals(HeaderName.path) { writePath(header.value) } else { json.string(utf8: header.value) }
    }

    private mutating func writePath(_ path: UnsafeRawBufferPointer) {
        if showsTokens { json.string(utf8: path) } else { json.string(PathText.withoutTokens(path)) }
    }

    private mutating func writeToken(_ token: UnsafeRawBufferPointer) {
        if showsTokens { json.string(utf8: token) } else { json.string(DeviceToken.shortened(token)) }
    }
}

extension HeaderRepresentation.Form {
    fileprivate var word: String {
        switch self {
        case .indexed: "indexed"
        case .incremental: "incremental"
        case .withoutIndexing: "without_indexing"
        case .neverIndexed: "never_indexed"
        }
    }
}
