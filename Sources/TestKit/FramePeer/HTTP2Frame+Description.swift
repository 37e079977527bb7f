import HTTP2

/// The text of a frame in a transcript, such as `HEADERS 1 end_stream`, `SETTINGS max_concurrent_streams=1`,
/// `RST_STREAM 3 REFUSED_STREAM` or `GOAWAY 0 NO_ERROR {"reason":"Shutdown"}`.
extension HTTP2Frame: CustomStringConvertible {
    public var description: String {
        switch type {
        case Kind.data: "DATA \(stream) \(payload.count)\(has(Flag.endStream) ? " end_stream" : "")"
        case Kind.headers:
            "HEADERS \(stream)\(has(Flag.endHeaders) ? "" : " unfinished")\(has(Flag.endStream) ? " end_stream" : "")"
        case Kind.priority: "PRIORITY \(stream)"
        case Kind.resetStream: "RST_STREAM \(stream) \(code(at: 0))"
        case Kind.settings where has(Flag.acknowledgment): "SETTINGS ack"
        case Kind.settings:
            (["SETTINGS"] + settings.map { "\(Self.name(ofSetting: $0.id))=\($0.value)" }).joined(separator: " ")
        case Kind.pushPromise: "PUSH_PROMISE \(stream)"
        case Kind.ping: "PING \(UInt64(bigEndianBytes: payload.prefix(8)))\(has(Flag.acknowledgment) ? " ack" : "")"
        case Kind.goAway:
            "GOAWAY \(word(at: 0)) \(code(at: 4)) \(String(decoding: payload.dropFirst(8), as: UTF8.self))"
        case Kind.windowUpdate: "WINDOW_UPDATE \(stream) \(word(at: 0))"
        case Kind.continuation: "CONTINUATION \(stream)"
        default: "frame of type \(type), stream \(stream), \(payload.count) bytes"
        }
    }

    /// The entries of a SETTINGS frame, in order; empty for other frames.
    public var settings: [(id: UInt16, value: UInt32)] {
        guard type == Kind.settings else { return [] }
        return stride(from: 0, through: payload.count - 6, by: 6).map { start in
            (
                UInt16(bigEndianBytes: payload[start..<(start + 2)]),
                UInt32(bigEndianBytes: payload[(start + 2)..<(start + 6)])
            )
        }
    }

    public var isEndOfStream: Bool { (type == Kind.data || type == Kind.headers) && has(Flag.endStream) }

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    private func word(at start: Int) -> UInt32 { UInt32(bigEndianBytes: payload.dropFirst(start).prefix(4)) }

    private func code(at start: Int) -> HTTP2ErrorCode { HTTP2ErrorCode(rawValue: word(at: start)) }

    private static func name(ofSetting id: UInt16) -> String {
        switch id {
        case Setting.headerTableSize: "header_table_size"
        case Setting.enablePush: "enable_push"
        case Setting.maxConcurrentStreams: "max_concurrent_streams"
        case Setting.initialWindowSize: "initial_window_size"
        case Setting.maxFrameSize: "max_frame_size"
        case Setting.maxHeaderListSize: "max_header_list_size"
        default: "setting_\(id)"
        }
    }
}
