import JSON

extension WatchedMessage {
    /// Returns one line with the columns of the table and the message. Shortens possible device tokens, unless
    /// `revealsTokens` is set.
    func json(_ envelope: WatchedEnvelope, nowUnixMilliseconds: Int64, revealsTokens: Bool) -> String {
        func shown(_ text: String?) -> String? { text.map { DeadLetterText.shown($0, reveals: revealsTokens) } }
        var json = JSONWriter()
        json.beginObject()
        json.member("kind", kind.rawValue)
        json.member("id", shown(id))
        json.member("request_id", shown(requestID))
        json.member("devices", devices.map { Int64($0) })
        json.member("app", shown(app))
        json.member("outcome", outcome)
        json.member("class", failureClass)
        json.member("code", failureCode)
        json.member("message", shown(message))
        json.member("status", status.map { Int64($0) })
        json.member("reason", shown(reason))
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
