/// The contents of a SETTINGS frame (RFC 9113, 6.5.2). A setting that is nil is not sent.
public struct HTTP2Settings: Sendable, Hashable {
    /// Maximum number of streams that the peer may have open.
    public var maxConcurrentStreams: UInt32?
    /// Initial flow-control window of a stream.
    public var initialWindowBytes: UInt32?
    /// Maximum size of the HPACK table that the peer's encoder may use.
    public var headerTableBytes: UInt32?
    /// Maximum size of a frame's payload, 16,384 to 16,777,215.
    public var maxFrameBytes: UInt32?
    /// Maximum size of the uncompressed header fields of one message. The limit is advisory.
    public var maxHeaderListBytes: UInt32?

    public init(
        maxConcurrentStreams: UInt32? = nil, initialWindowBytes: UInt32? = nil, headerTableBytes: UInt32? = nil,
        maxFrameBytes: UInt32? = nil, maxHeaderListBytes: UInt32? = nil
    ) {
        self.maxConcurrentStreams = maxConcurrentStreams
        self.initialWindowBytes = initialWindowBytes
        self.headerTableBytes = headerTableBytes
        self.maxFrameBytes = maxFrameBytes
        self.maxHeaderListBytes = maxHeaderListBytes
    }
}

/// Limits that a session enforces locally.
public struct HTTP2Limits: Sendable, Hashable {
    /// Maximum number of open streams, regardless of SETTINGS. A client opens no more streams. A server refuses
    /// further streams.
    public var streamsMax: Int
    /// Maximum size of the header fields of one incoming message, names and values. Beyond this size, a server resets
    /// the stream, and a client ignores further fields.
    public var headerBytesMax: Int
    /// Maximum size of a response body that a client passes to its delegate. The client ignores the rest. A server
    /// passes on the whole request body.
    public var responseBodyBytesMax: Int
    /// Amount of output that may wait for the transport to accept it. At this amount, no more frames are created.
    public var outputBytesMax: Int
    /// Flow-control window of the connection for incoming bodies.
    public var connectionWindowBytes: Int32
    /// Number of frames without a response that a server accepts in a burst before it ends the connection. Examples
    /// are PING, SETTINGS and HEADERS of streams that the client resets. Each KiB of input counts as a further frame.
    public var idleFramesMax: Int
    /// Number of frames without a response that a server accepts per second in addition to the burst.
    public var idleFramesPerSecondMax: Int
    /// Maximum time that pending output may wait for a client to read it before a server ends the connection.
    public var outputStallSecondsMax: Int

    public init(
        streamsMax: Int = 4096, headerBytesMax: Int = 16_384, responseBodyBytesMax: Int = 65_536,
        outputBytesMax: Int = 65_536, connectionWindowBytes: Int32 = 1_048_576,
        idleFramesMax: Int = 20_000, idleFramesPerSecondMax: Int = 1000, outputStallSecondsMax: Int = 60
    ) {
        self.streamsMax = streamsMax
        self.headerBytesMax = headerBytesMax
        self.responseBodyBytesMax = responseBodyBytesMax
        self.outputBytesMax = outputBytesMax
        self.connectionWindowBytes = connectionWindowBytes
        self.idleFramesMax = idleFramesMax
        self.idleFramesPerSecondMax = idleFramesPerSecondMax
        self.outputStallSecondsMax = outputStallSecondsMax
    }
}
