import APNSProtocol
import HTTP2
public import JSON

/// Reads faults as state files and the admin endpoint have them:
///
///     {"id": "slow", "match": {"topic": "com.example.app"}, "action": {"latency": {"median_ms": 20, "p99_ms": 200}},
///      "share": 0.5, "count_max": 100}
///
/// An action is a word, or an object whose one member is that word with what belongs to it.
public struct FaultReader {
    static let bodyBytesMax = 65_536
    static let strikesMax = 1_000_000_000
    static let idleSecondsMax = 31_536_000
    static let topicBytesMax = 255
    static let flowWindowBytesMax = Int(Int32.max)

    public init() {}

    /// - Parameter makeID: gives an id to a fault that has none.
    /// - Throws: a sentence, and the value that it is about.
    public func fault(_ value: JSONValue, makeID: () -> String) throws(InputError) -> Fault {
        let members = try Members(
            value, "a fault", known: ["id", "trigger", "match", "action", "share", "skip_count", "count_max", "struck"])
        guard let action = members["action"] else { throw InputError("a fault has an action", node: value.nodeIndex) }
        var fault = Fault(
            id: try members["id"].map { id throws(InputError) in try self.id(id) } ?? makeID(),
            action: try self.action(action))
        fault.trigger = try members.word("trigger") ?? .request
        if let match = members["match"] { fault.match = try self.match(match) }
        fault.share = try members.number("share", 0...1) ?? 1
        fault.skipCount = try members.int("skip_count", 0...Self.strikesMax) ?? 0
        fault.countMax = try members.int("count_max", 1...Self.strikesMax)
        try check(fault, value)
        return fault
    }

    /// - Throws: a sentence, and the value that it is about.
    public func action(_ value: JSONValue) throws(InputError) -> FaultAction {
        if let word = value.string { return try action(word, nil, value) }
        guard value.kind == .object, value.count == 1, let (word, details) = value.members.first(where: { _ in true })
        else {
            throw InputError(
                "an action is a word, or an object with that word as its one member", node: value.nodeIndex)
        }
        return try action(word.string ?? "", details.isNull ? nil : details, value)
    }

    private func action(_ word: String, _ details: JSONValue?, _ value: JSONValue) throws(InputError) -> FaultAction {
        func needed() throws(InputError) -> JSONValue {
            guard let details else { throw InputError("\(word) wants an object that says more", node: value.nodeIndex) }
            return details
        }
        func alone(_ action: FaultAction) throws(InputError) -> FaultAction {
            guard let details else { return action }
            throw InputError("\(word) stands alone", node: details.nodeIndex)
        }
        switch word {
        case "latency": return .latency(try latency(try needed()))
        case "silence": return try alone(.silence)
        case "answer": return .answer(try answer(try needed()))
        case "reset_stream":
            return .resetStream(try details.map { code throws(InputError) in try self.code(code) } ?? .refusedStream)
        case "goaway":
            return .goAway(try details.map { goAway throws(InputError) in try self.goAway(goAway) } ?? FaultGoAway())
        case "reset_connection": return try alone(.resetConnection)
        case "close_connection": return try alone(.closeConnection)
        case "stop_reading":
            guard let details else { return .stopReading(milliseconds: nil) }
            let members = try Members(details, word, known: ["ms"])
            return .stopReading(milliseconds: try members.int("ms", 0...Int(LatencyDistribution.millisecondsMax)))
        case "resume_reading": return try alone(.resumeReading)
        case "settings": return .settings(try settings(try needed()))
        case "stale_connection": return try alone(.staleConnection)
        default:
            throw InputError(
                "there is no action \(word); there are \(FaultAction.names.joined(separator: ", "))",
                node: value.nodeIndex)
        }
    }

    private func id(_ value: JSONValue) throws(InputError) -> String {
        guard let id = value.string, (1...Fault.idBytesMax).contains(id.utf8.count), id.utf8.allSatisfy(Self.isIDByte)
        else {
            throw InputError(
                "an id is 1 to \(Fault.idBytesMax) letters, digits, full stops, hyphens or underscores",
                node: value.nodeIndex)
        }
        return id
    }

    private static func isIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private func match(_ value: JSONValue) throws(InputError) -> FaultMatch {
        let members = try Members(
            value, "a match",
            known: [
                "environment", "service", "topic", "device_prefix", "push_type", "connection", "idle_seconds_min",
            ])
        var match = FaultMatch()
        match.environment = try members.word("environment")
        match.service = try members.word("service")
        match.topic = try members.text("topic", bytesMax: Self.topicBytesMax)
        if let prefix = try members.text("device_prefix", bytesMax: DeviceToken.hexDigitsMax) {
            guard prefix.utf8.allSatisfy(DeviceToken.isHexDigit) else {
                throw members.error("device_prefix", "is hexadecimal digits")
            }
            match.devicePrefix = prefix
        }
        match.pushType = try members.word("push_type")
        match.connection = try members.int("connection", 1...Int.max)
        match.idleSecondsMin = try members.int("idle_seconds_min", 0...Self.idleSecondsMax)
        return match
    }

    /// What can only be said of the whole.
    private func check(_ fault: Fault, _ value: JSONValue) throws(InputError) {
        switch (fault.trigger, fault.action) {
        case (.request, .resumeReading):
            throw InputError("no request comes while reading is stopped; it is resumed at once", node: value.nodeIndex)
        case (.request, _): break
        case (.connection, .resetStream), (.connection, .resumeReading):
            throw InputError("a new connection has no streams and is read", node: value.nodeIndex)
        case (.connection, let action):
            guard action.isForConnections else {
                throw InputError("\(action.name) strikes requests, not connections", node: value.nodeIndex)
            }
            guard !fault.match.looksAtRequests else {
                throw InputError(
                    "a fault that strikes connections matches environment, service and connection only",
                    node: value.nodeIndex)
            }
        }
    }
}

extension FaultReader {
    private func latency(_ value: JSONValue) throws(InputError) -> LatencyDistribution {
        let members = try Members(
            value, "a latency", known: ["constant_ms", "min_ms", "max_ms", "median_ms", "p99_ms", "shape"])
        let range = 0...LatencyDistribution.millisecondsMax
        let constant = try members.number("constant_ms", range)
        let (min, max) = (try members.number("min_ms", range), try members.number("max_ms", range))
        let (median, p99) = (try members.number("median_ms", range), try members.number("p99_ms", range))
        let shape = try members.word("shape") as Shape?
        switch (constant, min, max, median, p99) {
        case (let constant?, nil, nil, nil, nil) where shape == nil: return .constant(constant)
        case (nil, let min?, let max?, nil, nil) where min <= max && shape == nil: return .uniform(min: min, max: max)
        case (nil, nil, nil, let median?, let p99?) where median <= p99:
            if shape == .normal { return .normal(median: median, p99: p99) }
            guard median > 0 else { throw members.error("median_ms", "is above 0 in the shape log_normal") }
            return .logNormal(median: median, p99: p99)
        default:
            throw InputError(
                "a latency has constant_ms, or min_ms and a greater max_ms, or median_ms, a greater p99_ms and maybe a shape",
                node: value.nodeIndex)
        }
    }

    private enum Shape: String, CaseIterable {
        case normal
        case logNormal = "log_normal"
    }

    private func answer(_ value: JSONValue) throws(InputError) -> Answer {
        let members = try Members(
            value, "an answer",
            known: ["status", "reason", "timestamp_ms", "retry_after_seconds", "body", "content_type"])
        let reason = try members.text("reason", bytesMax: Reason.textBytesMax).map(Self.reason)
        guard let status = try members.int("status", 200...599) ?? reason?.status else {
            throw InputError("an answer has a status, or a reason that has one", node: value.nodeIndex)
        }
        var answer = Answer(status: status)
        answer.retryAfterSeconds = try members.int("retry_after_seconds", 0...Self.strikesMax)
        let timestamp = try members.int("timestamp_ms", 0...Int(Int64.max))
        let contentType = try members.text("content_type", bytesMax: Self.topicBytesMax)
        switch (reason, members["body"]) {
        case (let reason?, nil):
            guard contentType == nil else { throw members.error("content_type", "belongs to a body") }
            answer.body = .reason(reason, timestampMilliseconds: timestamp.map(Int64.init))
        case (let reason, let body):
            guard reason == nil else { throw members.error("reason", "and body exclude each other") }
            guard timestamp == nil else { throw members.error("timestamp_ms", "belongs to a reason") }
            guard let body else { return answer }
            guard let text = body.string, text.utf8.count <= Self.bodyBytesMax else {
                throw members.error("body", "is a text of at most \(Self.bodyBytesMax) bytes")
            }
            if !text.isEmpty {
                answer.body = .raw(contentType: contentType ?? "application/json", Array(text.utf8))
            }
        }
        if let contentType, !Array(contentType.utf8).withUnsafeBytes({ HeaderBlock.isWellFormedValue($0) }) {
            throw members.error("content_type", "is no value of a header")
        }
        return answer
    }

    /// The reason that is written just so: a spelling that is read as another's is kept.
    private static func reason(_ text: String) -> Reason {
        let known = Array(text.utf8).withUnsafeBytes { Reason($0) }
        return known.text == text ? known : .unknown(text)
    }

    private func code(_ value: JSONValue) throws(InputError) -> HTTP2ErrorCode {
        if let number = value.int, let code = UInt32(exactly: number) { return HTTP2ErrorCode(rawValue: code) }
        guard let code = value.string.flatMap(HTTP2ErrorCode.init(name:)) else {
            throw InputError(
                "an error code is a number or a name such as REFUSED_STREAM, CANCEL or NO_ERROR", node: value.nodeIndex)
        }
        return code
    }

    private func goAway(_ value: JSONValue) throws(InputError) -> FaultGoAway {
        let members = try Members(
            value, "a goaway",
            known: ["last_stream_id", "code", "debug", "debug_hex", "second_last_stream_id", "then"])
        var goAway = FaultGoAway()
        if let last = members["last_stream_id"] { goAway.lastStream = try lastStream(last) }
        if let code = members["code"] { goAway.code = try self.code(code) }
        if let debug = try members.text("debug", bytesMax: FaultGoAway.debugBytesMax) {
            goAway.debug = Array(debug.utf8)
        }
        if let hex = try members.text("debug_hex", bytesMax: 2 * FaultGoAway.debugBytesMax) {
            guard goAway.debug.isEmpty else { throw members.error("debug_hex", "and debug exclude each other") }
            guard let bytes = Self.bytes(hex: hex) else { throw members.error("debug_hex", "is hexadecimal digits") }
            goAway.debug = bytes
        }
        if let last = members["second_last_stream_id"] { goAway.second = try lastStream(last) }
        goAway.ending = try members.word("then") ?? .drain
        return goAway
    }

    private func lastStream(_ value: JSONValue) throws(InputError) -> FaultGoAway.LastStream {
        if value.isString("last_seen") { return .lastSeen }
        if let id = value.int, let id = Int32(exactly: id), id == 0 || id > 0 && id % 2 == 1 { return .id(id) }
        if value.kind == .object,
            let count = try Members(value, "a last stream", known: ["first"]).int("first", 0...10_000)
        {
            return .first(count)
        }
        throw InputError(
            #"a last stream is "last_seen", 0 or an odd number, or {"first": N} for the oldest open requests"#,
            node: value.nodeIndex)
    }

    private static func bytes(hex: String) -> [UInt8]? {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func settings(_ value: JSONValue) throws(InputError) -> FaultSettings {
        let members = try Members(
            value, "settings",
            known: ["max_concurrent_streams", "header_table_bytes", "initial_window_bytes", "max_header_list_bytes"])
        func change(_ name: String, max: Int) throws(InputError) -> FaultSettings.Change {
            guard let value = members[name] else { return .keep }
            guard !value.isNull else { return .omit }
            return .value(UInt32(clamping: try members.int(name, 0...max) ?? 0))
        }
        var settings = FaultSettings()
        settings.maxConcurrentStreams = try change("max_concurrent_streams", max: Int(UInt32.max))
        settings.headerTableBytes = try change("header_table_bytes", max: Int(UInt32.max))
        settings.initialWindowBytes = try change("initial_window_bytes", max: Self.flowWindowBytesMax)
        settings.maxHeaderListBytes = try change("max_header_list_bytes", max: Int(UInt32.max))
        guard settings != FaultSettings() else {
            throw InputError("settings change something", node: value.nodeIndex)
        }
        return settings
    }
}
