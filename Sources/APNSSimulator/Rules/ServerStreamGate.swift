/// How many streams a connection may have open: one until a push with a valid provider token was answered, then more
/// (Apple, "Sending notification requests to APNs"). One for each connection.
public struct ServerStreamGate: Sendable {
    public enum Mode: String, CaseIterable, Sendable {
        /// Announce the limit and refuse streams beyond it with REFUSED_STREAM.
        case enforce
        /// Announce the limit, but serve what comes.
        case announce
        /// Announce the full number from the start.
        case off
    }

    private let mode: Mode
    private let streamsMax: Int
    private var isOpen: Bool
    /// Whether only one stream is announced although the gate is open.
    private var isLowered = false
    /// Open ones, served or not.
    private(set) var streams = 0
    /// What is announced in place of what the gate would; nil for what the gate says.
    public var limit: Int?

    /// - Parameter streamsMax: what is announced after the first authenticated push.
    public init(mode: Mode, streamsMax: Int) {
        self.mode = mode
        self.streamsMax = max(1, streamsMax)
        isOpen = mode == .off
    }

    /// What SETTINGS_MAX_CONCURRENT_STREAMS has to say now.
    public var announced: Int { limit ?? (isOpen && !isLowered ? streamsMax : 1) }

    /// Whether a second stream is refused while one is open.
    var isNarrow: Bool { mode == .enforce && announced <= 1 }

    /// A stream was opened by the client; false when it must be refused. Every stream is ended by `closed()`.
    ///
    /// - Parameter isTold: false when the client may not know yet that its streams have become fewer.
    public mutating func opened(isTold: Bool = true) -> Bool {
        streams += 1
        return mode != .enforce || streams <= announced || isLowered && !isTold
    }

    /// Has one stream announced from now on, or the full number again. True when ``announced`` is to be told; with the gate
    /// off it never is.
    public mutating func setLowered(_ lowered: Bool) -> Bool {
        guard mode != .off, isLowered != lowered else { return false }
        let before = announced
        isLowered = lowered
        return announced != before
    }

    /// A stream ended, served or refused.
    public mutating func closed() {
        streams -= 1
    }

    /// A push with a valid provider token is being answered. True the first time: ``announced`` is to be told.
    public mutating func authenticated() -> Bool {
        guard !isOpen else { return false }
        isOpen = true
        return true
    }
}
