/// What one side announces in its SETTINGS (RFC 9113, 6.5.2). A nil is left out of the frame.
public struct HTTP2Settings: Sendable, Hashable {
    /// Streams that the peer may have open at once.
    public var maxConcurrentStreams: UInt32?
    /// Bytes of one stream's body that may be under way.
    public var initialWindowBytes: UInt32?
    /// Bytes of the table against which the peer compresses header fields.
    public var headerTableBytes: UInt32?
    /// Bytes of one frame's payload, 16,384 to 16,777,215.
    public var maxFrameBytes: UInt32?
    /// Bytes of uncompressed header fields of one message; advice to the peer.
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

/// What a session holds to, whatever the peer sends.
public struct HTTP2Limits: Sendable, Hashable {
    /// Streams open at once, whatever was announced. A client opens no more; a server refuses those above.
    public var streamsMax: Int
    /// Bytes of header fields of one incoming message, names and values; a server resets the stream that sends more, a
    /// client drops the fields above it.
    public var headerBytesMax: Int
    /// Bytes of an incoming body that a client's delegate is given; what follows is dropped. A server's delegate is
    /// given all and counts itself.
    public var responseBodyBytesMax: Int
    /// Bytes made for the peer and not taken by the transport, at which no more frames are made.
    public var outputBytesMax: Int
    /// Bytes of bodies from all streams together that may be under way to this side.
    public var connectionWindowBytes: Int32
    /// Frames that a server takes beyond those that lead to an answer, such as PING, SETTINGS and streams that the client
    /// resets, before it ends the connection: so many at once, and so many more each second. A KiB counts as a frame.
    public var idleFramesMax: Int
    public var idleFramesPerSecondMax: Int
    /// How long a server waits for a client that does not read, until it ends the connection.
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
