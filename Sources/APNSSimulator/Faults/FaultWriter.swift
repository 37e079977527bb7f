import APNSProtocol
import HTTP2
public import JSON

// Faults as ``FaultReader`` reads them.

extension Fault {
    /// Writes one JSON object.
    ///
    /// - Parameter struck: how often it has struck, which is told but not read.
    public func write(to json: inout JSONWriter, struck: Int? = nil) {
        json.beginObject()
        json.member("id", id)
        if trigger != .request { json.member("trigger", trigger.rawValue) }
        if match != FaultMatch() {
            json.key("match")
            match.write(to: &json)
        }
        json.key("action")
        action.write(to: &json)
        if share < 1 {
            json.key("share")
            json.double(share)
        }
        if skipCount > 0 { json.member("skip_count", skipCount) }
        if let countMax { json.member("count_max", countMax) }
        if let struck { json.member("struck", struck) }
        json.endObject()
    }
}

extension FaultMatch {
    fileprivate func write(to json: inout JSONWriter) {
        json.beginObject()
        if let environment { json.member("environment", environment.rawValue) }
        if let service { json.member("service", service.rawValue) }
        if let topic { json.member("topic", topic) }
        if let devicePrefix { json.member("device_prefix", devicePrefix) }
        if let pushType { json.member("push_type", pushType.rawValue) }
        if let connection { json.member("connection", connection) }
        if let idleSecondsMin { json.member("idle_seconds_min", idleSecondsMin) }
        json.endObject()
    }
}

extension FaultAction {
    /// Writes a word, or an object with the word as its one member.
    public func write(to json: inout JSONWriter) {
        switch self {
        case .silence, .resetConnection, .closeConnection, .stopReading(nil), .resumeReading, .staleConnection:
            return json.string(name)
        case .latency, .answer, .resetStream, .goAway, .stopReading, .settings: break
        }
        json.beginObject()
        json.key(name)
        switch self {
        case .latency(let distribution): distribution.write(to: &json)
        case .answer(let answer): answer.writeFault(to: &json)
        case .resetStream(let code): code.write(to: &json)
        case .goAway(let goAway): goAway.write(to: &json)
        case .stopReading(let milliseconds):
            json.beginObject()
            json.member("ms", milliseconds ?? 0)
            json.endObject()
        case .settings(let settings): settings.write(to: &json)
        case .silence, .resetConnection, .closeConnection, .resumeReading, .staleConnection: json.null()
        }
        json.endObject()
    }
}

extension LatencyDistribution {
    fileprivate func write(to json: inout JSONWriter) {
        func member(_ name: StaticString, _ value: Double) {
            json.key(name)
            json.double(value)
        }
        json.beginObject()
        switch self {
        case .constant(let value): member("constant_ms", value)
        case .uniform(let min, let max):
            member("min_ms", min)
            member("max_ms", max)
        case .normal(let median, let p99):
            member("median_ms", median)
            member("p99_ms", p99)
            json.member("shape", "normal")
        case .logNormal(let median, let p99):
            member("median_ms", median)
            member("p99_ms", p99)
        }
        json.endObject()
    }
}

extension Answer {
    fileprivate func writeFault(to json: inout JSONWriter) {
        json.beginObject()
        json.member("status", status)
        switch body {
        case .none: break
        case .reason(let reason, let timestampMilliseconds):
            json.member("reason", reason.text)
            if let timestampMilliseconds { json.member("timestamp_ms", timestampMilliseconds) }
        case .json(let bytes):
            json.key("body")
            bytes.withUnsafeBytes { json.string(utf8: $0) }
        case .raw(let contentType, let bytes):
            json.key("body")
            bytes.withUnsafeBytes { json.string(utf8: $0) }
            json.member("content_type", contentType)
        }
        if let retryAfterSeconds { json.member("retry_after_seconds", retryAfterSeconds) }
        json.endObject()
    }
}

extension HTTP2ErrorCode {
    /// By name where it has one.
    fileprivate func write(to json: inout JSONWriter) {
        if HTTP2ErrorCode(name: description) == self { json.string(description) } else { json.int(Int64(rawValue)) }
    }
}

extension FaultGoAway {
    fileprivate func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("last_stream_id")
        lastStream.write(to: &json)
        json.key("code")
        code.write(to: &json)
        if !debug.isEmpty {
            if let text = String(validating: debug, as: UTF8.self) {
                json.member("debug", text)
            } else {
                json.member("debug_hex", debug.map { Self.hex($0) }.joined())
            }
        }
        if let second {
            json.key("second_last_stream_id")
            second.write(to: &json)
        }
        if ending != .drain { json.member("then", ending.rawValue) }
        json.endObject()
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension FaultGoAway.LastStream {
    fileprivate func write(to json: inout JSONWriter) {
        switch self {
        case .lastSeen: json.string("last_seen")
        case .id(let id): json.int(Int64(id))
        case .first(let count):
            json.beginObject()
            json.member("first", count)
            json.endObject()
        }
    }
}

extension FaultSettings {
    fileprivate func write(to json: inout JSONWriter) {
        func member(_ name: StaticString, _ change: Change) {
            switch change {
            case .keep: return
            case .omit:
                json.key(name)
                json.null()
            case .value(let value): json.member(name, Int64(value))
            }
        }
        json.beginObject()
        member("max_concurrent_streams", maxConcurrentStreams)
        member("header_table_bytes", headerTableBytes)
        member("initial_window_bytes", initialWindowBytes)
        member("max_header_list_bytes", maxHeaderListBytes)
        json.endObject()
    }
}
