/// The limit of open streams on one connection. Until the answer to the first push with a valid provider token, the
/// limit is one stream, except in the mode `off` (Apple, "Sending notification requests to APNs").
public struct ServerStreamGate: Sendable {
    public enum Mode: String, CaseIterable, Sendable {
        /// An announced limit. Streams beyond the limit are refused.
        case enforce
        /// An announced limit. Streams beyond the limit are served.
        case announce
        /// The full number of streams from the start.
        case off
    }

    private let mode: Mode
    private let streamsMax: Int
    private var isOpen: Bool
    /// Whether the limit is one stream even while the gate is open. See ``setLowered(_:)``.
    private var isLowered = false
    /// Number of open streams, including refused ones.
    private(set) var streams = 0
    /// A limit that replaces the gate's limit; nil if the gate's limit applies.
    public var limit: Int?

    /// Creates the gate of a new connection.
    ///
    /// - Parameter streamsMax: the announced limit after the first authenticated push.
    public init(mode: Mode, streamsMax: Int) {
        self.mode = mode
        self.streamsMax = max(1, streamsMax)
        isOpen = mode == .off
    }

    /// The current value of SETTINGS_MAX_CONCURRENT_STREAMS.
    public var announced: Int { limit ?? (isOpen && !isLowered ? streamsMax : 1) }

    /// Whether the gate enforces a limit of at most one stream.
    var isNarrow: Bool { mode == .enforce && announced <= 1 }

    /// Records that the client opened a stream. Returns false if the stream must be refused. Call `closed()` when the
    /// stream ends, also after a refusal.
    ///
    /// - Parameter isAcknowledged: false if the client may not have received a lower limit yet.
    public mutating func opened(isAcknowledged: Bool = true) -> Bool {
        streams += 1
        return mode != .enforce || streams <= announced || isLowered && !isAcknowledged
    }

    /// Lowers the limit to one stream, or restores the gate's limit. Returns true if ``announced`` changed. The caller
    /// must then send ``announced``. Has no effect if the gate is off.
    public mutating func setLowered(_ lowered: Bool) -> Bool {
        guard mode != .off, isLowered != lowered else { return false }
        let before = announced
        isLowered = lowered
        return announced != before
    }

    /// Records that a stream ended.
    public mutating func closed() {
        streams -= 1
    }

    /// Opens the gate at the first authenticated push. Returns true if the gate was closed. The caller must then send
    /// ``announced``.
    public mutating func authenticated() -> Bool {
        guard !isOpen else { return false }
        isOpen = true
        return true
    }
}
