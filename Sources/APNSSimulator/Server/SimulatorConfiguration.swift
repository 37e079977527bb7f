/// What a simulator's process is like, apart from what it knows of the world: `SimulatorState`.
public struct SimulatorConfiguration: Sendable {
    /// How long a request waits for its answer, from when it had arrived whole.
    public var answerDelay = Duration.zero
    /// Connections served at once. At the limit the oldest whose client has shown neither a good certificate nor a good
    /// provider token is closed for a new one; when there is none, the new one is.
    public var connectionsMax = 10_000
    /// Connections at once that are not open yet as TLS and HTTP/2 want it; the oldest makes room.
    public var halfOpenMax = 2000
    /// How long a connection may take to be open.
    public var openingSecondsMax = 10
    /// How long a request may take to arrive, and its answer to be taken; waits on purpose do not count. Twice that, since
    /// it is looked at so often.
    public var requestSecondsMax = 30
    /// Frames that a client may send without getting an answer for them, such as PING and requests that it resets, before
    /// its connection ends; 1000 more each second.
    public var idleFramesMax = 20_000
    /// Requests open at once, over all connections; more are refused.
    public var requestsOpenMax = 100_000
    /// Requests kept in the log, with about 1.5 KB each; 0 for none.
    public var requestsLoggedMax = 10_000
    /// Request ids remembered to tell duplicates, the newest; 32 to 64 bytes each, taken at the start.
    public var idsRememberedMax = 250_000
    /// From which follows what faults strike that strike a share only, and how long their latencies are.
    public var faultSeed: UInt64 = 1

    public init() {}

    /// Serves no more connections at once than these, and leaves half of them to those that are open.
    mutating func limit(connectionsMax: Int) {
        self.connectionsMax = min(self.connectionsMax, connectionsMax)
        halfOpenMax = min(halfOpenMax, max(1, self.connectionsMax / 2))
    }
}
