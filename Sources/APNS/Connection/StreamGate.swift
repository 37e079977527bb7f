/// How many requests one connection may have open. Without a certificate APNs allows one stream until a request with a
/// valid provider token was answered (Apple, "Sending notification requests to APNs"), afterwards as many as its SETTINGS
/// say, and changes that number while the connection lives.
///
/// Pure: it is told what happened, and says how many streams are free.
public struct StreamGate: Sendable {
    public enum Phase: Sendable, Hashable {
        /// No SETTINGS yet; becomes `probing` or `open`, `draining` or `closed`.
        case connecting
        /// One stream, until an answer shows that the provider token was taken; becomes `open`, `draining` or `closed`.
        case probing
        /// As many as the peer and we allow; becomes `probing` when a stream is refused, `draining` or `closed`.
        case open
        /// No new streams; becomes `closed`.
        case draining
        case closed
    }

    /// How many of its streams are in use.
    public enum Use: Sendable, Hashable {
        /// So few that one connection less would do.
        case light
        case moderate
        /// So many that another connection would be of use.
        case heavy
    }

    /// How a stream ended, as far as it matters here.
    public enum End: Sendable, Hashable {
        /// An answer that APNs gives only after it took the provider token.
        case authenticated
        /// An answer that shows nothing about the provider token.
        case answered
        /// The peer wants fewer streams.
        case refused
        /// The connection is ending, by the peer's will or by a failure, and no answer came.
        case cutOff
        /// Anything else without an answer.
        case other
    }

    public private(set) var phase = Phase.connecting
    public private(set) var inFlight = 0
    /// Our own limit.
    private let streamsMax: Int
    private let provesToken: Bool
    /// The peer's; nil when it names none.
    private var peerStreamsMax: Int?

    /// - Parameter provesToken: whether a provider token has to be taken first; false with a certificate.
    public init(streamsMax: Int, provesToken: Bool = true) {
        self.streamsMax = streamsMax
        self.provesToken = provesToken
    }

    /// Requests that may be sent now. Those that are not urgent leave a tenth of the streams to those that are: what was
    /// sent together is answered together, so that else an urgent one would wait for all of that.
    public func free(isUrgent: Bool = true) -> Int {
        switch phase {
        case .connecting, .draining, .closed: 0
        case .probing: max(0, min(1, limit) - inFlight)
        case .open: max(0, limit - (isUrgent ? 0 : limit / Self.urgentShare) - inFlight)
        }
    }

    /// One in so many.
    private static let urgentShare = 10

    /// So many requests more than another connection it may have open before the other gets the next of the same turn; an
    /// eighth at most of what it may have.
    var lead: Int { min(Self.leadMax, limit / Self.leadShare) }

    private static let leadMax = 64
    private static let leadShare = 8

    /// Light up to a quarter, heavy above three quarters, or with the last stream where there are few: two connections that
    /// are light make one that is not heavy, so that they do not come and go.
    public var use: Use {
        guard phase == .open else { return .light }
        let quarter = max(1, limit / 4)
        let heavyAbove = limit - quarter
        if inFlight > heavyAbove { return .heavy }
        return inFlight <= quarter && 2 * inFlight <= heavyAbove ? .light : .moderate
    }

    private var limit: Int { min(streamsMax, peerStreamsMax ?? .max) }

    /// Whether it takes requests now or will in a moment.
    public var isServing: Bool {
        switch phase {
        case .connecting, .probing, .open: true
        case .draining, .closed: false
        }
    }

    /// The peer's SETTINGS came.
    public mutating func settingsReceived(streamsMax: Int?) {
        peerStreamsMax = streamsMax
        if phase == .connecting { phase = provesToken ? .probing : .open }
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

    /// A GOAWAY came, or the connection is to be replaced.
    public mutating func drain() {
        if phase != .closed { phase = .draining }
    }

    public mutating func close() {
        phase = .closed
    }

    /// The connection is ending. One that drains already stays so.
    mutating func cutOff() {
        if isServing { phase = .closed }
    }

    /// Whether an answer of this status comes only after APNs took the provider token: a 403 is about the token itself,
    /// and what a failing server or a proxy says tells nothing.
    public static func end(status: Int) -> End {
        switch status {
        case 403: .answered
        case 200..<429, 430..<500: .authenticated
        default: .answered
        }
    }
}
