/// An HTTP/2 frame in wire format (RFC 9113, section 4.1), with any type, flags and payload.
///
/// Tests can therefore also send frames that no library would send.
public struct HTTP2Frame: Sendable, Hashable {
    public enum Kind {
        public static let data: UInt8 = 0
        public static let headers: UInt8 = 1
        public static let priority: UInt8 = 2
        public static let resetStream: UInt8 = 3
        public static let settings: UInt8 = 4
        public static let pushPromise: UInt8 = 5
        public static let ping: UInt8 = 6
        public static let goAway: UInt8 = 7
        public static let windowUpdate: UInt8 = 8
        public static let continuation: UInt8 = 9
    }

    public enum Flag {
        public static let acknowledgment: UInt8 = 0x1
        public static let endStream: UInt8 = 0x1
        public static let endHeaders: UInt8 = 0x4
        public static let padded: UInt8 = 0x8
        public static let priority: UInt8 = 0x20
    }

    public enum Setting {
        public static let headerTableSize: UInt16 = 1
        public static let enablePush: UInt16 = 2
        public static let maxConcurrentStreams: UInt16 = 3
        public static let initialWindowSize: UInt16 = 4
        public static let maxFrameSize: UInt16 = 5
        public static let maxHeaderListSize: UInt16 = 6
    }

    static let headerByteCount = 9
    /// The default of SETTINGS_MAX_FRAME_SIZE.
    public static let payloadBytesMax = 16_384
    /// The connection preface of a client.
    public static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    public var type: UInt8
    public var flags: UInt8
    public var stream: UInt32
    public var payload: [UInt8]

    public init(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    /// The frame header and the payload.
    public var bytes: [UInt8] { header(announcing: payload.count) + payload }

    /// Returns the nine-byte frame header with a length field of `count`, which may differ from the payload's length.
    public func header(announcing count: Int) -> [UInt8] {
        Array(UInt32(truncatingIfNeeded: count).bigEndianBytes.dropFirst()) + [type, flags] + stream.bigEndianBytes
    }

    public static func data(_ stream: UInt32, _ bytes: [UInt8], ends: Bool = true) -> HTTP2Frame {
        HTTP2Frame(type: Kind.data, flags: ends ? Flag.endStream : 0, stream: stream, payload: bytes)
    }

    public static func headers(
        _ stream: UInt32, _ block: [UInt8], endsHeaders: Bool = true, endsStream: Bool = false
    ) -> HTTP2Frame {
        let flags = (endsHeaders ? Flag.endHeaders : 0) | (endsStream ? Flag.endStream : 0)
        return HTTP2Frame(type: Kind.headers, flags: flags, stream: stream, payload: block)
    }

    public static func continuation(_ stream: UInt32, _ block: [UInt8], endsHeaders: Bool = false) -> HTTP2Frame {
        HTTP2Frame(type: Kind.continuation, flags: endsHeaders ? Flag.endHeaders : 0, stream: stream, payload: block)
    }

    public static func priority(_ stream: UInt32, dependsOn parent: UInt32, weight: UInt8 = 15) -> HTTP2Frame {
        HTTP2Frame(type: Kind.priority, stream: stream, payload: parent.bigEndianBytes + [weight])
    }

    public static func resetStream(_ stream: UInt32, code: UInt32) -> HTTP2Frame {
        HTTP2Frame(type: Kind.resetStream, stream: stream, payload: code.bigEndianBytes)
    }

    public static func settings(_ entries: (UInt16, UInt32)...) -> HTTP2Frame {
        HTTP2Frame(type: Kind.settings, payload: entries.flatMap { $0.0.bigEndianBytes + $0.1.bigEndianBytes })
    }

    public static let settingsAcknowledgment = HTTP2Frame(type: Kind.settings, flags: Flag.acknowledgment)

    public static func ping(_ number: UInt64, isAnswer: Bool = false) -> HTTP2Frame {
        HTTP2Frame(type: Kind.ping, flags: isAnswer ? Flag.acknowledgment : 0, payload: number.bigEndianBytes)
    }

    public static func goAway(lastStream: UInt32 = 0, code: UInt32 = 0, debug: String = "") -> HTTP2Frame {
        HTTP2Frame(type: Kind.goAway, payload: lastStream.bigEndianBytes + code.bigEndianBytes + Array(debug.utf8))
    }

    public static func windowUpdate(_ stream: UInt32 = 0, by bytes: UInt32) -> HTTP2Frame {
        HTTP2Frame(type: Kind.windowUpdate, stream: stream, payload: bytes.bigEndianBytes)
    }
}

extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}
