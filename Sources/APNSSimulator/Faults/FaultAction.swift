public import HTTP2

/// The action of a fault.
public enum FaultAction: Sendable, Hashable {
    /// A delay of the answer by a sample of the distribution, instead of the delay configured for all answers.
    case latency(LatencyDistribution)
    /// No answer to the request.
    case silence
    /// This answer, instead of the answer of the rules.
    case answer(Answer)
    /// A reset of the request's stream. If the action applies to a connection, a reset of the streams of all unanswered
    /// requests on the connection.
    case resetStream(HTTP2ErrorCode)
    /// A GOAWAY on the connection.
    case goAway(FaultGoAway)
    /// A reset of the TCP connection.
    case resetConnection
    /// An orderly close of the connection, but without a GOAWAY.
    case closeConnection
    /// A stop of reading from the connection for this time; nil means until ``resumeReading``.
    case stopReading(milliseconds: Int?)
    /// The resumption of reading after ``stopReading(milliseconds:)``.
    case resumeReading
    /// A change of the connection's settings.
    case settings(FaultSettings)
    /// Status 500 `InternalServerError` for this and all further requests on the connection. Providers reported such
    /// answers of APNs on connections whose provider token became stale during idleness.
    case staleConnection

    /// The action's name in state files and in JSON.
    public var name: String {
        switch self {
        case .latency: "latency"
        case .silence: "silence"
        case .answer: "answer"
        case .resetStream: "reset_stream"
        case .goAway: "goaway"
        case .resetConnection: "reset_connection"
        case .closeConnection: "close_connection"
        case .stopReading: "stop_reading"
        case .resumeReading: "resume_reading"
        case .settings: "settings"
        case .staleConnection: "stale_connection"
        }
    }

    /// Whether the action can apply to a connection without a request.
    public var isForConnections: Bool {
        switch self {
        case .latency, .silence, .answer: false
        case .resetStream, .goAway, .resetConnection, .closeConnection, .stopReading, .resumeReading, .settings,
            .staleConnection:
            true
        }
    }
}

/// One or two GOAWAY frames, and whether and when the connection closes (RFC 9113, 6.8).
public struct FaultGoAway: Sendable, Hashable {
    /// The frame's last stream identifier: the last stream that the server has processed or will process.
    public enum LastStream: Sendable, Hashable {
        /// The last stream that the simulator has accepted.
        case lastSeen
        /// A stream identifier: 0 or an odd number. If an earlier GOAWAY had a smaller identifier, the frame repeats
        /// the smaller identifier.
        case id(Int32)
        /// The stream of the n-th oldest open request; for 0, a stream before the oldest open request. If no such
        /// request is open, the last accepted stream.
        case first(Int)
    }

    public enum Closing: String, CaseIterable, Sendable {
        /// A close of the connection after the remaining answers.
        case drain
        /// An open connection that ignores new streams.
        case keep
        /// A close of the connection immediately after the GOAWAY frames, without further answers.
        case close
    }

    /// Maximum bytes of debug data.
    public static let debugBytesMax = 4096

    public var lastStream: LastStream
    public var code: HTTP2ErrorCode
    public var debug: [UInt8]
    /// Last stream of a second frame, which follows the first and has no debug data; nil for no second frame.
    public var second: LastStream?
    public var closing: Closing

    public init(
        lastStream: LastStream = .lastSeen, code: HTTP2ErrorCode = .noError, debug: [UInt8] = [],
        second: LastStream? = nil, closing: Closing = .drain
    ) {
        self.lastStream = lastStream
        self.code = code
        self.debug = debug
        self.second = second
        self.closing = closing
    }
}

/// Changes of a connection's settings (RFC 9113, 6.5.2).
public struct FaultSettings: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        /// No change of the setting.
        case keep
        /// A frame without the setting. In the connection's first SETTINGS frame, the protocol's default then applies.
        /// In a later frame, the previous value stays.
        case omit
        /// A frame with this value.
        case value(UInt32)
    }

    public var maxConcurrentStreams = Change.keep
    public var headerTableBytes = Change.keep
    public var initialWindowBytes = Change.keep
    public var maxHeaderListBytes = Change.keep

    public init() {}

    /// Adds the changes of `other`, which take precedence.
    mutating func add(_ other: FaultSettings) {
        if other.maxConcurrentStreams != .keep { maxConcurrentStreams = other.maxConcurrentStreams }
        if other.headerTableBytes != .keep { headerTableBytes = other.headerTableBytes }
        if other.initialWindowBytes != .keep { initialWindowBytes = other.initialWindowBytes }
        if other.maxHeaderListBytes != .keep { maxHeaderListBytes = other.maxHeaderListBytes }
    }

    /// Returns `settings` with the changes.
    func applied(to settings: HTTP2Settings) -> HTTP2Settings {
        func apply(_ change: Change, _ value: inout UInt32?) {
            switch change {
            case .keep: break
            case .omit: value = nil
            case .value(let changed): value = changed
            }
        }
        var settings = settings
        apply(maxConcurrentStreams, &settings.maxConcurrentStreams)
        apply(headerTableBytes, &settings.headerTableBytes)
        apply(initialWindowBytes, &settings.initialWindowBytes)
        apply(maxHeaderListBytes, &settings.maxHeaderListBytes)
        return settings
    }
}
