public import HTTP2

/// The action of a fault.
public enum FaultAction: Sendable, Hashable {
    /// Delays the answer by a sample of the distribution instead of the delay of all requests.
    case latency(LatencyDistribution)
    /// Never answers the request.
    case silence
    /// Sends this answer instead of the answer of the rules.
    case answer(Answer)
    /// Resets the request's stream. Applied to a connection, resets all its open streams.
    case resetStream(HTTP2ErrorCode)
    /// Sends GOAWAY.
    case goAway(FaultGoAway)
    /// Resets the TCP connection.
    case resetConnection
    /// Closes the connection in order, but without a GOAWAY.
    case closeConnection
    /// Stops reading from the connection for this time; nil: until ``resumeReading``.
    case stopReading(milliseconds: Int?)
    /// Resumes reading after ``stopReading(milliseconds:)``.
    case resumeReading
    /// Changes the settings of the connection.
    case settings(FaultSettings)
    /// Answers this and all further requests on the connection with 500 `InternalServerError`. Providers saw APNs do so
    /// on connections whose provider token became stale while they were idle.
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

/// One or two GOAWAY frames, and the closing of the connection (RFC 9113, 6.8).
public struct FaultGoAway: Sendable, Hashable {
    /// The frame's last stream identifier: the last stream that the server has processed or will process.
    public enum LastStream: Sendable, Hashable {
        /// The last stream that the simulator has accepted.
        case lastSeen
        /// A stream identifier: 0 or an odd number. A number above that of an earlier GOAWAY is lowered to it.
        case id(Int32)
        /// Answers this number of open requests, the oldest first.
        case first(Int)
    }

    public enum Closing: String, CaseIterable, Sendable {
        /// Closes the connection after the remaining answers.
        case drain
        /// Keeps the connection open, and ignores new streams.
        case keep
        /// Closes the connection immediately after the frame, without further answers.
        case close
    }

    /// Maximum bytes of debug data.
    public static let debugBytesMax = 4096

    public var lastStream: LastStream
    public var code: HTTP2ErrorCode
    public var debug: [UInt8]
    /// Last stream of a second frame, which follows the first and has no debug data; nil: no second frame.
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
        /// The setting stays as without the fault.
        case keep
        /// The frame omits the setting. In the connection's first SETTINGS frame, the protocol's default then applies.
        /// In a later frame, the previous value stays.
        case omit
        /// The frame contains this value.
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
