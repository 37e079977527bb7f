/// The limit on the open requests of one connection. Without a certificate, APNs allows one stream until it has
/// answered a request with a valid provider token (Apple, "Sending notification requests to APNs"). After that
/// answer, the limit in APNs' SETTINGS applies. APNs may change this limit while the connection is open.
///
/// The gate is pure. Callers pass the events.
public struct StreamGate: Sendable {
    public enum Phase: Sendable, Hashable {
        /// A connection that has not received the peer's SETTINGS. Next: `probing`, `open`, `draining` or `closed`.
        case connecting
        /// One stream, until an answer shows that APNs accepted the credential. Next: `open`, `draining` or `closed`.
        case probing
        /// Streams up to the lower of the two sides' limits. Next: `probing` after a refused stream, `draining` or
        /// `closed`.
        case open
        /// No new streams. Next: `closed`.
        case draining
        case closed
    }

    /// The load of a connection.
    public enum Use: Sendable, Hashable {
        /// A low load. Two light connections would fit on one connection.
        case light
        case moderate
        /// A high load, for which another connection would help.
        case heavy
    }

    /// The end of a stream.
    public enum End: Sendable, Hashable {
        /// An answer that APNs sends only after it accepted the credential.
        case authenticated
        /// An answer that does not show that APNs accepted the credential.
        case answered
        /// A refusal of the stream by the peer, or a request that was not sent.
        case refused
        /// An end without an answer, after the connection was lost or stopped accepting streams.
        case cutOff
        /// Another end without an answer.
        case other
    }

    public private(set) var phase = Phase.connecting
    public private(set) var inFlight = 0
    /// The configured limit.
    private let streamsMax: Int
    private let startsProbing: Bool
    /// The limit in the peer's SETTINGS; nil before the SETTINGS, or if they contain no limit.
    private var peerStreamsMax: Int?

    /// Creates the gate of a connection that has not received the peer's SETTINGS.
    ///
    /// - Parameter startsProbing: whether the connection starts with one stream, until APNs has accepted the
    ///   credential. Usually false if the credential is a certificate.
    public init(streamsMax: Int, startsProbing: Bool = true) {
        self.streamsMax = streamsMax
        self.startsProbing = startsProbing
    }

    /// Returns the number of requests that may be sent now. A tenth of the streams is reserved for urgent requests.
    /// Otherwise, an urgent request would wait for the answers of a whole batch.
    public func free(isUrgent: Bool = true) -> Int {
        switch phase {
        case .connecting, .draining, .closed: 0
        case .probing: max(0, min(1, limit) - inFlight)
        case .open: max(0, limit - (isUrgent ? 0 : limit / Self.urgentShare) - inFlight)
        }
    }

    /// Divisor of the stream limit. The quotient is the number of reserved streams.
    private static let urgentShare = 10

    /// Number of open requests by which this connection may exceed another one before ``ConnectionChoice`` switches to
    /// the other within one event-loop iteration. At most `leadMax`, and at most an eighth of the stream limit.
    var lead: Int { min(Self.leadMax, limit / Self.leadShare) }

    private static let leadMax = 64
    private static let leadShare = 8

    /// The load of the connection. It is light up to about a quarter of the streams, and heavy above about three
    /// quarters. With few streams, heavy means that the last stream is in use. The load of two light connections is
    /// never heavy on one connection, which prevents oscillation. In every phase except `open`, the load is light.
    public var use: Use {
        guard phase == .open else { return .light }
        let quarter = max(1, limit / 4)
        let heavyAbove = limit - quarter
        if inFlight > heavyAbove { return .heavy }
        return inFlight <= quarter && 2 * inFlight <= heavyAbove ? .light : .moderate
    }

    private var limit: Int { min(streamsMax, peerStreamsMax ?? .max) }

    /// Whether the connection accepts requests now, or will once it has connected.
    public var isServing: Bool {
        switch phase {
        case .connecting, .probing, .open: true
        case .draining, .closed: false
        }
    }

    /// Applies the peer's SETTINGS.
    public mutating func settingsReceived(streamsMax: Int?) {
        peerStreamsMax = streamsMax
        if phase == .connecting { phase = startsProbing ? .probing : .open }
    }

    public mutating func streamBegan() {
        inFlight += 1
    }

    public mutating func streamEnded(_ end: End) {
        inFlight -= 1
        switch (phase, end) {
        case (.probing, .authenticated): phase = .open
        case (.open, .refused): phase = .probing
        case (.connecting, _), (.probing, _), (.open, _), (.draining, _), (.closed, _): break
        }
    }

    /// Stops new streams, after a GOAWAY or before the connection is replaced.
    public mutating func drain() {
        if phase != .closed { phase = .draining }
    }

    public mutating func close() {
        phase = .closed
    }

    /// Closes the gate of a connection that is closing, unless the connection is draining.
    mutating func cutOff() {
        if isServing { phase = .closed }
    }

    /// Classifies an answer by its status. A 403 may refuse the token. A 429 or 5xx answer may come from a failing
    /// server or a proxy. These answers do not show that APNs accepted the credential.
    public static func end(status: Int) -> End {
        switch status {
        case 403: .answered
        case 200..<429, 430..<500: .authenticated
        default: .answered
        }
    }
}
