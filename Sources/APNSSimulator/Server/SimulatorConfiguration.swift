/// The configuration of a simulator, apart from its ``SimulatorState``.
public struct SimulatorConfiguration: Sendable {
    /// Delay of an answer after the request is complete. A fault with a latency replaces the delay.
    public var answerDelay = Duration.zero
    /// Maximum number of open connections. At the limit, a new connection replaces the oldest unauthenticated
    /// connection. If all connections are authenticated, the new connection is refused.
    public var connectionsMax = 10_000
    /// Maximum number of connections whose TLS and HTTP/2 handshakes are incomplete. At the limit, a new connection
    /// replaces the oldest of them.
    public var halfOpenMax = 2000
    /// Timeout of the handshakes, in seconds.
    public var openingSecondsMax = 10
    /// Timeout for the client to send a request, and for the client to receive the answer, in seconds. Delays by the
    /// simulator do not count. Detection takes up to twice this time, because the simulator checks at this interval.
    public var requestSecondsMax = 30
    /// Maximum number of frames without an answered request, such as PING frames and the frames of canceled requests.
    /// The simulator closes a connection that exceeds the number. The allowance grows by 1000 each second.
    /// Each KiB of input counts as a further frame.
    public var idleFramesMax = 20_000
    /// Maximum number of open requests of all connections. Further requests are refused.
    public var requestsOpenMax = 100_000
    /// Maximum number of requests in the log, of about 1.5 KB each; 0 for no log.
    public var requestsLoggedMax = 10_000
    /// Maximum number of request IDs kept to detect duplicates. The memory, 32 to 64 bytes for each ID, is
    /// allocated at the start.
    public var idsRememberedMax = 250_000
    /// Seed of the faults. The seed determines the latencies of faults, and the requests to which a fault with a share
    /// applies.
    public var faultSeed: UInt64 = 1

    public init() {}

    /// Lowers the maximum number of connections, and limits half-open connections to half of that number.
    mutating func limit(connectionsMax: Int) {
        self.connectionsMax = min(self.connectionsMax, connectionsMax)
        halfOpenMax = min(halfOpenMax, max(1, self.connectionsMax / 2))
    }
}
