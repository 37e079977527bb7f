import JSON

extension WatchedMessage {
    /// Returns one line with the columns of the table and the message.
    func json(_ envelope: WatchedEnvelope, nowUnixMilliseconds: Int64, revealsTokens: Bool) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("kind", kind.rawValue)
        json.member("id", id)
        json.member("request_id", requestID)
        json.member("devices", devices.map { Int64($0) })
        json.member("app", app)
        json.member("outcome", outcome)
        json.member("class", failureClass)
        json.member("code", failureCode)
        json.member("message", message)
        json.member("status", status.map { Int64($0) })
        json.member("reason", reason)
        json.member("attempts", attempts.map { Int64($0) })
        if isDuplicate { json.member("duplicate", true) }
        json.member("body_bytes", bodyBytes.map { Int64($0) })
        json.member("age_ms", ageMilliseconds(at: nowUnixMilliseconds))
        envelope.write(to: &json, revealsTokens: revealsTokens)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    fileprivate mutating func member(_ name: StaticString, _ value: Int64?) {
        if let value { member(name, value) }
    }
}
