public import HTTP2

/// What goes wrong.
public enum FaultAction: Sendable, Hashable {
    /// The request is answered later, in place of the delay that all requests have.
    case latency(LatencyDistribution)
    /// The request is never answered.
    case silence
    /// The request gets this answer, whatever the rules would say.
    case answer(Answer)
    /// The request's stream is reset; at once: all streams that are open.
    case resetStream(HTTP2ErrorCode)
    /// The connection takes no more requests.
    case goAway(FaultGoAway)
    /// The connection's TCP stream is reset.
    case resetConnection
    /// The connection is closed in order, but without a word of HTTP/2.
    case closeConnection
    /// Nothing more is read from the connection, for so long or until it is told to resume.
    case stopReading(milliseconds: Int?)
    /// What was stopped goes on.
    case resumeReading
    /// The connection is told other settings.
    case settings(FaultSettings)
    /// All requests of the connection from now on are answered with 500 `InternalServerError`, as was seen on connections
    /// whose provider token had gone stale while they were idle.
    case staleConnection

    /// The word for it in state files and in JSON.
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

    /// Whether it can be done to a connection without waiting for a request.
    public var isForConnections: Bool {
        switch self {
        case .latency, .silence, .answer: false
        case .resetStream, .goAway, .resetConnection, .closeConnection, .stopReading, .resumeReading, .settings,
            .staleConnection:
            true
        }
    }
}

/// A GOAWAY frame, or two, and what follows (RFC 9113, 6.8).
public struct FaultGoAway: Sendable, Hashable {
    /// Which stream the frame names as the last that was or will be served.
    public enum LastStream: Sendable, Hashable {
        case lastSeen
        /// 0 or an odd number; what is above a number that was sent before is lowered to that.
        case id(Int32)
        /// So many of the open requests, the oldest first, are still answered.
        case first(Int)
    }

    public enum Ending: String, CaseIterable, Sendable {
        /// The connection ends when the streams that go on have been answered.
        case drain
        /// The connection stays open, and new streams are ignored.
        case keep
        /// The connection is closed right behind the frame, whatever is unanswered.
        case close
    }

    /// Bytes of debug data.
    public static let debugBytesMax = 4096

    public var lastStream: LastStream
    public var code: HTTP2ErrorCode
    public var debug: [UInt8]
    /// A second frame behind the first, with this last stream and without debug data.
    public var second: LastStream?
    public var ending: Ending

    public init(
        lastStream: LastStream = .lastSeen, code: HTTP2ErrorCode = .noError, debug: [UInt8] = [],
        second: LastStream? = nil, ending: Ending = .drain
    ) {
        self.lastStream = lastStream
        self.code = code
        self.debug = debug
        self.second = second
        self.ending = ending
    }
}

/// What a connection's settings become (RFC 9113, 6.5.2).
public struct FaultSettings: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        /// As it would be without the fault.
        case keep
        /// The frame says nothing of it, which matters in the first of a connection: later it means what was said before.
        case omit
        case value(UInt32)
    }

    public var maxConcurrentStreams = Change.keep
    public var headerTableBytes = Change.keep
    public var initialWindowBytes = Change.keep
    public var maxHeaderListBytes = Change.keep

    public init() {}

    /// Takes over what another changes.
    mutating func add(_ other: FaultSettings) {
        if other.maxConcurrentStreams != .keep { maxConcurrentStreams = other.maxConcurrentStreams }
        if other.headerTableBytes != .keep { headerTableBytes = other.headerTableBytes }
        if other.initialWindowBytes != .keep { initialWindowBytes = other.initialWindowBytes }
        if other.maxHeaderListBytes != .keep { maxHeaderListBytes = other.maxHeaderListBytes }
    }

    /// Settings with the changes made.
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
